package ferro.examples.textmodel;

import ferro.examples.textmodel.Trainer.TrainingStep;
import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.checkpoint.CheckpointInfo;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The job of one rank: it compares its options with the other ranks, trains, and checks the result. Rank 0 reports. */
final class TextModelRank {
    /** Allowed relative difference of losses: sums in another order differ in their last bits, and then ever more. */
    static final double ALLOWED = 1e-3;

    private static final int LOSSES_TO_CHECK = 50;
    private static final long LINE_EVERY_NANOS = 3_000_000_000L;

    private final ProcessGroup group;
    private final Options options;
    private final TrainingText source;
    private final int cores;
    private final PrintStream out;
    private final Batches batches;
    private final CharModel.Shape shape;

    /** Creates the job of a rank, which shares so many cores with the other ranks of its host. */
    TextModelRank(ProcessGroup group, Options options, TrainingText source, int cores, PrintStream out) {
        this.group = group;
        this.options = options;
        this.source = source;
        this.cores = cores;
        this.out = out;
        batches = Batches.of(options, source, group.worldSize());
        shape = new CharModel.Shape(source.characters().length(), CharModel.CONTEXT, 32, 800);
    }

    /** Runs the job; returns 0, or 1 if a check failed. */
    int run() {
        List<String> different = different(Arrays.hashCode(batches.text()) + " " + options.number("--batch") + " "
                + options.number("--steps") + " " + options.number("--seed"));
        Options.require(
                different.isEmpty(),
                "ranks " + different + " of " + group.worldSize()
                        + " differ from rank 0 in the text, --batch, --steps or"
                        + " --seed: start all ranks with the same files and options");
        Path name = options.text().toAbsolutePath().normalize().getFileName();
        report(
                "%d ranks, one model; %,d characters of text from %,d files of %s",
                group.worldSize(), batches.text().length, source.fileCount(), name);
        report(
                "model: %d symbols, context %d, embedding %d, hidden %d: %,d parameters",
                shape.symbols(), shape.context(), shape.embedding(), shape.hidden(), shape.parameterCount());
        try (Trainer trainer = trainer(group)) {
            if (options.checkpoints().isEmpty()) {
                List<TrainingStep> steps = train(trainer, 0, step -> {});
                return isRight(trainer, steps, Optional.empty()) ? 0 : 1;
            }
            try (SavedTraining saved =
                    new SavedTraining(group, options.checkpoints().get(), trainer)) {
                report("checkpoints in %s", options.checkpoints().get());
                Optional<Thread> kill =
                        options.chaos().prepare(group.generation(), group.rank(), group.worldSize(), saved.saved());
                List<TrainingStep> steps = train(trainer, saved.earlierMillis(), saved::after);
                kill.ifPresent(Thread::interrupt);
                if (group.rank() == 0) {
                    saved.plot().forEach(line -> report("%s", line));
                }
                return isRight(trainer, steps, saved.resume().checkpoint()) ? 0 : 1;
            }
        }
    }

    private List<TrainingStep> train(Trainer trainer, long earlierMillis, Consumer<TrainingStep> after) {
        long left = options.number("--seconds") * 1_000L - earlierMillis;
        long end = System.nanoTime() + left * 1_000_000L;
        return trainer.train(
                group.rank(),
                group.worldSize(),
                options.number("--steps"),
                () -> group.rank() == 0 && System.nanoTime() - end >= 0,
                progress().andThen(after));
    }

    private boolean isRight(Trainer trainer, List<TrainingStep> steps, Optional<CheckpointInfo> resumed) {
        if (!steps.isEmpty()) {
            summary(steps);
        }
        trainer.read();
        boolean right = replicasAreEqual(trainer.model);
        if (steps.isEmpty()) {
            report("the checkpoint has all %,d steps", options.number("--steps"));
        } else if (resumed.isPresent()) {
            right &= lossesAreThoseOfAnUndisturbedRun(steps, resumed.get().worldSize());
        } else if (group.rank() == 0) {
            right &= lossesAreThoseOfOneProcess(steps);
        }
        return right;
    }

    private Trainer trainer(ProcessGroup ranks) {
        GradientBuckets buckets =
                GradientBuckets.builder(ranks).parameters(shape.parameters()).build();
        return new Trainer(ranks, shape, batches, buckets, Trainer.RULE);
    }

    /** Returns the ranks whose string is not that of rank 0. */
    private List<String> different(String own) {
        List<String> all = group.objects(Codec.utf8()).allGather(own);
        return IntStream.range(0, all.size())
                .filter(rank -> !all.get(rank).equals(all.get(0)))
                .mapToObj(Integer::toString)
                .toList();
    }

    /** Prints a line every few seconds. */
    private Consumer<TrainingStep> progress() {
        long[] since = {0, 0, 0};
        return step -> {
            since[1] += batches.batchSize();
            since[2] += step.communicationNanos();
            long elapsed = step.endNanos() - since[0];
            if (since[0] == 0 || elapsed >= LINE_EVERY_NANOS) {
                report(
                        "%5.1f s  step %,d  loss %.3f %,8.0f characters/s %3.0f %% communicating",
                        step.endNanos() / 1e9,
                        step.number() + 1,
                        step.loss(),
                        since[1] * 1e9 / elapsed,
                        100.0 * since[2] / elapsed);
                Arrays.fill(since, 0);
                since[0] = step.endNanos();
            }
        };
    }

    private void summary(List<TrainingStep> steps) {
        TrainingStep end = steps.get(steps.size() - 1);
        long communication =
                steps.stream().mapToLong(TrainingStep::communicationNanos).sum();
        report(
                "trained %,d steps of %,d characters in %.1f s: loss %.3f to %.3f, %,.0f characters/s, %.0f %%"
                        + " communicating (waiting included)",
                steps.size(),
                batches.batchSize(),
                end.endNanos() / 1e9,
                steps.get(0).loss(),
                end.loss(),
                (double) steps.size() * batches.batchSize() * 1e9 / end.endNanos(),
                100.0 * communication / end.endNanos());
    }

    private boolean replicasAreEqual(CharModel model) {
        String hash = Integer.toHexString(Arrays.deepHashCode(model.parameters.toArray()));
        List<String> different = different(hash);
        report(
                different.isEmpty()
                        ? "check ok: parameters are bitwise equal on all %d ranks, hash %s"
                        : "check FAILED: of %d ranks, parameters differ from those of rank 0 (hash %s) on " + different,
                group.worldSize(),
                hash);
        return different.isEmpty();
    }

    /**
     * Trains the first steps again in one process, on whole batches. So each sample was used once, with the same
     * weight. The other ranks wait without work meanwhile, so these steps also show how fast one rank is.
     */
    private boolean lossesAreThoseOfOneProcess(List<TrainingStep> steps) {
        int count = Math.min(LOSSES_TO_CHECK, steps.size());
        List<TrainingStep> alone;
        try (ProcessGroup one = group.newGroup(0);
                Trainer trainer = trainer(one)) {
            int[] left = {count};
            alone = trainer.train(0, 1, options.number("--steps"), () -> --left[0] == 0, step -> {});
        }
        double difference = largestDifference(steps, alone);
        boolean right = difference <= ALLOWED;
        report(
                "check %s: the first %d losses differ by at most %.1e (relative) from those of one process on whole"
                        + " batches, allowed %.0e",
                right ? "ok" : "FAILED", count, difference, ALLOWED);
        if (group.worldSize() > 1) {
            int batch = batches.batchSize();
            report(
                    "%s",
                    new TrainingSpeed(
                                    group.worldSize(),
                                    TrainingSpeed.of(steps, batch),
                                    TrainingSpeed.of(alone, batch),
                                    cores)
                            .answer());
        }
        return right;
    }

    /**
     * Trains all steps again on all ranks, from the beginning and without a stop. If as many ranks have saved the
     * checkpoint, the losses after the last resume have the same bits.
     */
    private boolean lossesAreThoseOfAnUndisturbedRun(List<TrainingStep> steps, int savedBy) {
        int first = steps.get(0).number();
        int[] left = {first + steps.size()};
        List<TrainingStep> undisturbed;
        try (ProcessGroup again =
                        group.newGroup(IntStream.range(0, group.worldSize()).toArray());
                Trainer trainer = trainer(again)) {
            undisturbed = trainer.train(
                    again.rank(), again.worldSize(), options.number("--steps"), () -> --left[0] == 0, step -> {});
        }
        double allowed = savedBy == group.worldSize() ? 0 : ALLOWED;
        double difference = largestDifference(steps, undisturbed.subList(first, first + steps.size()));
        boolean right = difference <= allowed;
        report(
                "check %s: the losses of steps %,d to %,d, after the last resume, differ by at most %.1e (relative) from"
                        + " those of an undisturbed run, allowed %.0e",
                right ? "ok" : "FAILED", first + 1, first + steps.size(), difference, allowed);
        return right;
    }

    /** Returns the largest relative difference of losses; NaN if a loss is NaN. */
    static double largestDifference(List<TrainingStep> together, List<TrainingStep> alone) {
        double largest = 0;
        for (int i = 0; i < alone.size(); i++) {
            double loss = alone.get(i).loss();
            largest = Math.max(largest, Math.abs(together.get(i).loss() - loss) / Math.abs(loss));
        }
        return largest;
    }

    private void report(String format, Object... values) {
        if (group.rank() == 0) {
            out.println(String.format(Locale.ROOT, format, values));
            out.flush();
        }
    }
}
