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
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
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
        long asking = System.nanoTime();
        // caps what is longer than such a clock can tell
        long patience = TimeUnit.NANOSECONDS.convert(patience());
        if (!Files.isDirectory(folder)) {
            throw new BadInputException(folder + " is no folder: need the one that the job's ranks write to");
        }
        Instant asked = ask();
        List<Answers> answers = Answers.of(folder, asked);
        while (!complete(answers) && System.nanoTime() - asking < patience) {
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

    private static boolean complete(List<Answers> all) {
        return !all.isEmpty() && all.stream().allMatch(Answers::complete);
    }

    private int say(List<Answers> all) {
        if (all.isEmpty()) {
            world.out()
                    .println("no rank has answered within " + wait + ": the ranks of this job write elsewhere"
                            + " (ferro.recorder.dir), are stopped, or have ended");
            return ExitCode.FAILED;
        }
        for (Answers answers : all) {
            String which = all.size() == 1 ? "" : "job " + answers.job() + ": ";
            world.out().println(which + "ranks that answered: " + answers.came() + " of " + answers.worldSize());
            if (!answers.silent().isEmpty()) {
                world.out()
                        .println(which + "ranks that did not answer within " + wait + ": " + answers.silent()
                                + " (stopped, dead, or writing elsewhere)");
            }
        }
        world.out().println("now: " + Invocation.ofProcess().line("analyze", folder));
        return complete(all) ? ExitCode.OK : ExitCode.FAILED;
    }

    /**
     * Who has answered.
     *
     * @param job       of which job
     * @param came      ranks with a recording younger than the question
     * @param worldSize of how many, 0 if nobody has said
     */
    private record Answers(String job, SortedSet<Integer> came, int worldSize) {
        /** Several jobs may write to one folder. */
        static List<Answers> of(Path folder, Instant asked) throws IOException {
            List<Answers> all = new ArrayList<>();
            Analysis.files(folder).forEach((job, files) -> {
                SortedMap<Integer, Path> young = new TreeMap<>(files);
                young.values().removeIf(file -> !isYounger(file, asked));
                if (!young.isEmpty()) {
                    int worldSize = worldSize(young.get(young.firstKey()));
                    all.add(new Answers(job, new TreeSet<>(young.keySet()), worldSize));
                }
            });
            return all;
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
