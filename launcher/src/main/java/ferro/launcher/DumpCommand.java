package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.UnreadableRecordingException;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import ferro.spi.Setting;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
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

/** {@code ferro dump}: asks the ranks of a running job to write their flight recordings. */
@Command(
        name = "dump",
        description =
                "Asks the ranks of a running job to write their flight recordings, and shows which ranks answered.",
        footer = {
            "",
            "DIR is the job's ferro.recorder.dir; ferro run prints it when it starts. Exit code 0 if all ranks have"
                    + " answered, else 1. Run ferro analyze DIR afterwards."
        })
final class DumpCommand implements Callable<Integer> {
    /** Name of the request file, which ranks poll about twice a second. */
    static final String REQUEST = "dump.request";

    private static final long LOOK_MILLIS = 50;

    private final CommandContext world;

    @Parameters(paramLabel = "DIR", description = "folder that the ranks write to")
    private Path folder;

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            description = "longest time to wait for answers (default: ${DEFAULT-VALUE})",
            defaultValue = "5s")
    private String wait;

    DumpCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        long asking = System.nanoTime();
        // convert() caps a duration that does not fit into nanoseconds
        long patience = TimeUnit.NANOSECONDS.convert(patience());
        if (!Files.isDirectory(folder)) {
            throw new BadInputException(folder + " is not a folder: need the folder that the job's ranks write to");
        }
        Instant asked = ask();
        List<AnsweredRanks> answers = AnsweredRanks.of(folder, asked);
        while (!complete(answers) && System.nanoTime() - asking < patience) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            answers = AnsweredRanks.of(folder, asked);
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

    /**
     * Writes the request. Ranks answer when the request file exists and its time has changed. The file is written under
     * another name and then moved, so that the time of the request file changes only once.
     */
    private Instant ask() {
        try {
            Path written = Files.createTempFile(folder, ".dump", ".request");
            Path request = Files.move(written, folder.resolve(REQUEST), StandardCopyOption.REPLACE_EXISTING);
            return Files.getLastModifiedTime(request).toInstant();
        } catch (IOException refused) {
            throw new BadInputException(
                    "cannot write to " + folder + " (" + refused + "): run ferro dump as the user that runs the job",
                    refused);
        }
    }

    private static boolean complete(List<AnsweredRanks> all) {
        return !all.isEmpty() && all.stream().allMatch(AnsweredRanks::complete);
    }

    private int say(List<AnsweredRanks> all) {
        PrintStream out = world.out();
        if (all.isEmpty()) {
            out.println("no rank has answered within " + wait + ": the ranks of this job write elsewhere"
                    + " (ferro.recorder.dir), are stopped, or have ended");
            return ExitCode.FAILED;
        }
        List<Integer> damaged = new ArrayList<>();
        for (AnsweredRanks answers : all) {
            String which = all.size() == 1 ? "" : "job " + answers.job() + ": ";
            out.println(which + "ranks that answered: " + answers.came()
                    + (answers.worldSize() == 0 ? "" : " of " + answers.worldSize()));
            if (!answers.silent().isEmpty()) {
                out.println(which + "ranks that did not answer within " + wait + ": " + answers.silent()
                        + " (stopped, dead, or writing elsewhere)");
            }
            answers.damaged().forEach((rank, why) -> {
                out.println(which + "the recording of rank " + rank + " is damaged: " + why);
                damaged.add(rank);
            });
        }
        out.println("now: " + Invocation.ofProcess().line("analyze", folder));
        return complete(all) && damaged.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    /**
     * The ranks of one job that have answered.
     *
     * @param job       name of the job
     * @param files     recordings by rank that are younger than the request
     * @param worldSize number of ranks of the job; 0 if no recording contains this number
     */
    private record AnsweredRanks(String job, SortedMap<Integer, Path> files, int worldSize) {
        /** Returns the answers by job, because several jobs may write to one folder. */
        static List<AnsweredRanks> of(Path folder, Instant asked) throws IOException {
            List<AnsweredRanks> all = new ArrayList<>();
            Analysis.files(folder).forEach((job, files) -> {
                SortedMap<Integer, Path> young = new TreeMap<>(files);
                young.values().removeIf(file -> !isYounger(file, asked));
                if (!young.isEmpty()) {
                    all.add(new AnsweredRanks(job, young, worldSize(young.values())));
                }
            });
            return all;
        }

        private static int worldSize(Collection<Path> files) {
            for (Path file : files) {
                try {
                    return Analysis.worldSize(file);
                } catch (UnreadableRecordingException damaged) {
                    // the next recording has the same number of ranks
                    continue;
                }
            }
            return 0;
        }

        Set<Integer> came() {
            return files.keySet();
        }

        /** Returns, by rank, what is wrong with a file that cannot be read. */
        SortedMap<Integer, String> damaged() {
            SortedMap<Integer, String> damaged = new TreeMap<>();
            files.forEach((rank, file) -> {
                try {
                    Analysis.worldSize(file);
                } catch (UnreadableRecordingException broken) {
                    damaged.put(rank, broken.reason());
                }
            });
            return damaged;
        }

        /**
         * Compares the times of a file and of the request. Both come from the folder's file system, whose clock may be
         * the clock of another host.
         */
        private static boolean isYounger(Path file, Instant asked) {
            try {
                return !Files.getLastModifiedTime(file).toInstant().isBefore(asked);
            } catch (IOException gone) {
                return false;
            }
        }

        boolean complete() {
            return worldSize > 0 && files.size() == worldSize;
        }

        SortedSet<Integer> silent() {
            SortedSet<Integer> silent =
                    IntStream.range(0, worldSize).boxed().collect(Collectors.toCollection(TreeSet::new));
            silent.removeAll(came());
            return silent;
        }
    }
}
