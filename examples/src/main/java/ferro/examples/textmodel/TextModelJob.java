package ferro.examples.textmodel;

import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Termination;
import ferro.training.checkpoint.CheckpointInfo;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The job of one rank of a group. The rank compares its options with the other ranks, trains, and checks the result.
 * Rank 0 also prints reports.
 */
final class TextModelJob {
    private static final int LOSSES_TO_CHECK = 50;
    /** The rank that trains again for the check, in a group of one rank. */
    private static final int CHECKING_RANK = 0;

    private final ProcessGroup group;
    private final Options options;
    private final TextSource source;
    private final PrintStream out;
    private final StopRequest stop;
    private final Vocabulary vocabulary;
    private final Shape shape;
    private final Batches batches;
    private long resumedStep = -1;

    /**
     * Prepares the job without communication.
     *
     * @param group   ranks to train with
     * @param options options, equal on all ranks
     * @param source  text, equal on all ranks
     * @param out     stream for the reports of rank 0
     * @param stop    request that ends the training early
     * @throws UsageException if there is too little text, or more ranks than samples
     */
    TextModelJob(ProcessGroup group, Options options, TextSource source, PrintStream out, StopRequest stop) {
        this.group = group;
        this.options = options;
        this.source = source;
        this.out = out;
        this.stop = stop;
        this.vocabulary = Vocabulary.of(source.text());
        this.shape = Shape.of(vocabulary);
        this.batches = batches(options, source);
        Batches.checkRanks(options.batch(), group.worldSize());
    }

    /** Cuts the text into batches, and checks that there is enough text. */
    static Batches batches(Options options, TextSource source) {
        Vocabulary vocabulary = Vocabulary.of(source.text());
        int context = Shape.of(vocabulary).context();
        return new Batches(vocabulary.encode(source.text()), context, options.batch(), options.seed());
    }

    /**
     * Runs the job.
     *
     * @return exit code: 0 on success, 1 if a check failed, or {@link Termination#EXIT_CODE} if the training was
     *     stopped early, saved, and not checked
     * @throws UsageException           if the ranks have different texts or options
     * @throws ferro.FerroException     if a rank is lost during the job
     * @throws IOException              if the plot cannot be written
     */
    int run() throws IOException {
        agree();
        report(
                "%d ranks, one model; %,d characters of text from %,d files of %s",
                group.worldSize(), source.text().length(), source.fileCount(), nameOf(options.text()));
        report(
                "model: %d symbols, context %d, embedding %d, hidden %d: %,d parameters",
                shape.symbols(), shape.context(), shape.embedding(), shape.hidden(), shape.parameterCount());
        float[] parameters = new float[shape.parameterCount()];
        List<TrainingStep> steps;
        boolean stopped;
        try (ModelReplica replica = replica(group)) {
            begin(group, replica);
            steps = train(replica);
            stopped = stop.agreed().test(group);
            replica.read(parameters);
            save(replica);
        }
        if (stopped) {
            report("stopped by SIGTERM; the final checks are skipped");
            return Termination.EXIT_CODE;
        }
        boolean equal = replicasAreEqual(parameters);
        if (group.rank() != CHECKING_RANK) {
            return equal ? 0 : 1;
        }
        boolean right = lossesAreThoseOfOneProcess(steps) && equal;
        finish(parameters, steps);
        return right ? 0 : 1;
    }

    private ModelReplica replica(ProcessGroup ranks) {
        GradientBuckets buckets = GradientBuckets.builder(ranks)
                .parameters(shape.parameters())
                .sharded(options.state().shard())
                .build();
        return new ModelReplica(shape, buckets, ModelReplica.rule());
    }

    /** Writes the first parameters of the training, which are new or come from a checkpoint. */
    private void begin(ProcessGroup ranks, ModelReplica replica) {
        Optional<Path> folder = options.state().resume();
        if (folder.isEmpty()) {
            // the parameters are drawn from the seed, so that all ranks have the same parameters
            replica.write(shape.initialParameters(options.seed()));
            return;
        }
        try (Checkpoints checkpoints = Checkpoints.open(ranks, LocalStorage.at(folder.get()))) {
            // the check loads the same checkpoint again, although a later checkpoint may have been saved
            CheckpointInfo info = resumedStep < 0
                    ? checkpoints.load(replica.state())
                    : checkpoints.load(resumedStep, replica.state());
            resumedStep = info.step();
            replica.restore(info.metadata());
            if (info.step() >= options.steps()) {
                throw new UsageException("--steps " + options.steps() + ": the checkpoint in " + folder.get()
                        + " already has " + info.step() + " steps, need a larger number");
            }
            report("resuming after step %,d of %d ranks", info.step(), info.worldSize());
        }
    }

    private void save(ModelReplica replica) {
        options.state().save().ifPresent(folder -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                checkpoints.save(replica.stepCount(), replica.state());
                report("checkpoint of step %,d: %s", replica.stepCount(), folder);
            }
        });
    }

    private void agree() {
        long own = new Fingerprint()
                .add(batches.text())
                .add(options.batch())
                .add(options.steps())
                .add(Long.hashCode(options.seed()))
                .value();
        long[] all = gather(own);
        List<Integer> different = new ArrayList<>();
        for (int rank = 1; rank < all.length; rank++) {
            if (all[rank] != all[0]) {
                different.add(rank);
            }
        }
        if (!different.isEmpty()) {
            throw new UsageException(
                    "ranks " + different + " of " + all.length + " differ from rank 0 in the text, --batch,"
                            + " --steps or --seed: start all ranks with the same files and options");
        }
    }

    private List<TrainingStep> train(ModelReplica replica) {
        CharModel model = new CharModel(shape, batches.largestShare(group.worldSize()));
        ShareGradient shares = new ShareGradient(model, batches, group.worldSize());
        Trainer trainer = new Trainer(group, shares, replica, options.steps());
        ProgressPrinter progress = new ProgressPrinter(out, options);
        long end = System.nanoTime() + options.seconds() * 1_000_000_000L;
        boolean first = group.rank() == 0;
        BooleanSupplier outOfTime = () -> stop.local().getAsBoolean() || first && System.nanoTime() - end >= 0;
        List<TrainingStep> steps = trainer.train(group.rank(), outOfTime, first ? progress : step -> {});
        if (first) {
            progress.finish();
            summary(steps);
        }
        return steps;
    }

    private void summary(List<TrainingStep> steps) {
        TrainingStep end = steps.get(steps.size() - 1);
        long communication =
                steps.stream().mapToLong(TrainingStep::communicationNanos).sum();
        report(
                "trained %,d steps of %,d characters in %.1f s: loss %.3f to %.3f, %,.0f characters/s, %.0f %%"
                        + " communicating (waiting included)",
                steps.size(),
                options.batch(),
                end.endNanos() / 1e9,
                steps.get(0).loss(),
                end.loss(),
                (double) steps.size() * options.batch() * 1e9 / end.endNanos(),
                100.0 * communication / end.endNanos());
    }

    private boolean replicasAreEqual(float[] parameters) {
        long[] all = gather(new Fingerprint().add(parameters).value());
        boolean equal = Arrays.stream(all).allMatch(hash -> hash == all[0]);
        String[] hashes = Arrays.stream(all).mapToObj(Long::toHexString).toArray(String[]::new);
        if (equal) {
            report("check ok: parameters are bitwise equal on all %d ranks, hash %s", all.length, hashes[0]);
        } else {
            report("check FAILED: parameters differ between ranks, hashes by rank %s", String.join(" ", hashes));
        }
        return equal;
    }

    private boolean lossesAreThoseOfOneProcess(List<TrainingStep> steps) {
        int count = Math.min(LOSSES_TO_CHECK, steps.size());
        double[] alone;
        try (ProcessGroup one = group.newGroup(CHECKING_RANK);
                ModelReplica replica = replica(one)) {
            begin(one, replica);
            alone = new LossCheck(shape, batches, options.steps()).alone(replica, count);
        }
        double[] together =
                steps.stream().limit(count).mapToDouble(TrainingStep::loss).toArray();
        double difference = LossCheck.largestDifference(together, alone);
        boolean right = difference <= LossCheck.ALLOWED;
        report(
                "check %s: the first %d losses differ by at most %.1e (relative) from those of one process on whole"
                        + " batches, allowed %.0e",
                right ? "ok" : "FAILED", count, difference, LossCheck.ALLOWED);
        return right;
    }

    private void finish(float[] parameters, List<TrainingStep> steps) throws IOException {
        CharModel model = new CharModel(shape, 1);
        model.load(parameters);
        byte[] beginning = Arrays.copyOf(batches.text(), shape.context());
        if (options.sample() > 0) {
            report("sample of generated text:");
            String sample = new Sampler(model, vocabulary).generate(beginning, options.sample(), options.seed());
            out.println(sample.replace("\t", TextSource.INDENTATION));
        }
        TrainingPlot.write(steps, group.worldSize(), options.out());
        report("plot of loss and throughput: %s", options.out());
    }

    /** Returns the name of the folder without its parents, which say nothing about the text. */
    private static Path nameOf(Path text) {
        Path name = text.toAbsolutePath().normalize().getFileName();
        return name == null ? text : name;
    }

    private long[] gather(long own) {
        long[] all = new long[group.worldSize()];
        group.allGather(new long[] {own}, all);
        return all;
    }

    private void report(String format, Object... values) {
        if (group.rank() == 0) {
            out.println(String.format(Locale.ROOT, format, values));
            out.flush();
        }
    }
}
