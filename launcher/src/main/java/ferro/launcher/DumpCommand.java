package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.UnreadableRecordingException;
import ferro.spi.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ferro dump}: asks the ranks of a running job to write what their flight recorders hold. */
@Command(
        name = "dump",
        description = "Asks the ranks of a running job for what their flight recorders hold, and says who answered.",
        footer = {
            "",
            "DIR is the job's ferro.recorder.dir; ferro run prints it when it starts. Exit code 0 if all ranks have answered,"
                    + " else 1. Then: ferro analyze DIR."
        })
final class DumpCommand implements Callable<Integer> {
    /** Ranks look for this file about twice a second. */
    static final String REQUEST = "dump.request";

    private static final long LOOK_MILLIS = 50;

    private final World world;

    @Parameters(paramLabel = "DIR", description = "folder that the ranks write to")
    private Path folder;

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            description = "longest time to wait for answers (default: ${DEFAULT-VALUE})",
            defaultValue = "5s")
    private String wait;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this text")
    private boolean help;

    DumpCommand(World world) {
        this.world = world;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        long until = System.nanoTime() + patience().toNanos();
        if (!Files.isDirectory(folder)) {
            throw new BadInputException(folder + " is no folder: need the one that the job's ranks write to");
        }
        Instant asked = ask();
        Answers answers = Answers.of(folder, asked);
        while (!answers.complete() && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            answers = Answers.of(folder, asked);
        }
        return say(answers);
    }

    private Duration patience() {
        try {
            return Setting.duration(wait);
        } catch (IllegalArgumentException misread) {
            throw new BadInputException("--wait " + wait + ": need a time such as 500ms, 5s or 1m", misread);
        }
    }

    /** Ranks answer when this file is there and its time is another than before; moved there, so that it has one time only. */
    private Instant ask() {
        try {
            Path written = Files.createTempFile(folder, ".dump", ".request");
            Path request = Files.move(written, folder.resolve(REQUEST), StandardCopyOption.REPLACE_EXISTING);
            return Files.getLastModifiedTime(request).toInstant();
        } catch (IOException refused) {
            throw new BadInputException(
                    "cannot write to " + folder + " (" + refused + "): ask as the user that the job runs as", refused);
        }
    }

    private int say(Answers answers) {
        if (answers.came().isEmpty()) {
            world.out()
                    .println("no rank has answered within " + wait + ": the ranks of this job write elsewhere"
                            + " (ferro.recorder.dir), are stopped, or have ended");
            return ExitCode.FAILED;
        }
        world.out().println("ranks that answered: " + answers.came() + " of " + answers.worldSize());
        if (!answers.silent().isEmpty()) {
            world.out()
                    .println("ranks that did not answer within " + wait + ": " + answers.silent()
                            + " (stopped, dead, or writing elsewhere)");
        }
        world.out().println("now: ./ferro analyze " + folder);
        return answers.complete() ? ExitCode.OK : ExitCode.FAILED;
    }

    /**
     * Who has answered.
     *
     * @param came      ranks with a recording younger than the question
     * @param worldSize of how many, 0 if nobody has said
     */
    private record Answers(SortedSet<Integer> came, int worldSize) {
        static Answers of(Path folder, Instant asked) throws IOException {
            Map<Integer, Path> answered = new TreeMap<>();
            Analysis.files(folder).forEach((rank, file) -> {
                if (isYounger(file, asked)) {
                    answered.put(rank, file);
                }
            });
            return new Answers(
                    new TreeSet<>(answered.keySet()),
                    answered.isEmpty()
                            ? 0
                            : worldSize(answered.values().iterator().next()));
        }

        private static int worldSize(Path file) {
            try {
                return Analysis.worldSize(file);
            } catch (UnreadableRecordingException notYetWhole) {
                return 0;
            }
        }

        /** By the folder's own clock on both sides: it may be on another host. */
        private static boolean isYounger(Path file, Instant asked) {
            try {
                return !Files.getLastModifiedTime(file).toInstant().isBefore(asked);
            } catch (IOException gone) {
                return false;
            }
        }

        boolean complete() {
            return worldSize > 0 && came.size() == worldSize;
        }

        SortedSet<Integer> silent() {
            SortedSet<Integer> silent =
                    IntStream.range(0, worldSize).boxed().collect(Collectors.toCollection(TreeSet::new));
            silent.removeAll(came);
            return silent;
        }
    }
}
