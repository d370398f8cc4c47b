package ferro.examples.textmodel;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.training.Termination;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/** Trains a character-level language model on all ranks of the job; {@code ./ferro demo} starts four of these. */
public final class TextModelMain {
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    /** From SIGTERM on; less than the time after which the launcher kills. */
    private static final Duration LEAVE_WITHIN = Duration.ofSeconds(8);

    private final RankContext process;
    private final PrintStream out;
    private final PrintStream err;
    private final StopRequest stop;

    /**
     * Connects the program to its process.
     *
     * @param process rank and world size
     * @param out     where rank 0 reports
     * @param err     where failures are printed
     * @param stop    ends training early
     */
    TextModelMain(RankContext process, PrintStream out, PrintStream err, StopRequest stop) {
        this.process = process;
        this.out = out;
        this.err = err;
        this.stop = stop;
    }

    /**
     * Runs one rank and ends the process: 0 done and checked, 1 a check or the communication failed, 2 wrong use, 143
     * SIGTERM, after the step that was under way and a checkpoint if one was asked for.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String[] arguments) {
        // The plot needs no screen and must work on a machine without one.
        System.setProperty("java.awt.headless", "true");
        SystemContext process = SystemContext.ofProcess();
        Termination termination = Termination.onSigterm(LEAVE_WITHIN);
        int exitCode = new TextModelMain(process, System.out, System.err, StopRequest.by(termination)).run(arguments);
        termination.exit();
        System.exit(exitCode);
    }

    /**
     * Returns the help text of the command line.
     *
     * @return lines, each with its end
     */
    public static String usage() {
        return Options.USAGE;
    }

    /**
     * Checks a command line as every rank does before it joins, so that a wrong one does not start anything.
     *
     * @param worldSize number of ranks of the job
     * @param arguments as for {@link #main}
     * @throws IllegalArgumentException naming the option and its value, or the fault of the text
     */
    public static void check(int worldSize, String... arguments) {
        Options options = Options.parse(arguments);
        check(options, TextSource.read(options.text()), worldSize);
    }

    private static void check(Options options, TextSource source, int worldSize) {
        TextModelJob.batches(options, source);
        Batches.checkRanks(options.batch(), worldSize);
    }

    /**
     * Runs one rank.
     *
     * @param arguments command line
     * @return exit code
     */
    int run(String... arguments) {
        int rank = first(Settings.RANK.find(process), Settings.ENV_RANK.find(process))
                .orElse(0);
        if (Arrays.asList(arguments).contains("--help")) {
            return rank == 0 ? say(out, Options.USAGE.stripTrailing(), 0) : 0;
        }
        try {
            Options options = Options.parse(arguments);
            TextSource source = TextSource.read(options.text());
            Optional<Integer> worldSize =
                    first(Settings.WORLD_SIZE.find(process), Settings.ENV_WORLD_SIZE.find(process));
            // before joining, so that a wrong option causes no waiting; the job checks again
            check(options, source, worldSize.orElse(1));
            return train(options, source);
        } catch (UsageException misuse) {
            return misused(rank, misuse);
        } catch (FerroException failure) {
            return say(err, "ferro demo: " + failure.code() + ": " + failure.getMessage(), FAILED);
        } catch (IOException failure) {
            return say(err, "ferro demo: rank " + rank + " cannot write the plot: " + failure, FAILED);
        }
    }

    private int train(Options options, TextSource source) throws IOException {
        try (ProcessGroup group = join()) {
            return new TextModelJob(group, options, source, out, stop).run();
        }
    }

    private static ProcessGroup join() {
        try {
            return ProcessGroup.join();
        } catch (IllegalArgumentException wrongSetting) {
            throw new UsageException(wrongSetting.getMessage(), wrongSetting);
        }
    }

    /** Prints a mistake on rank 0 only, because all ranks find the same one. */
    private int misused(int rank, UsageException misuse) {
        return rank == 0 ? say(err, "ferro demo: " + misuse.getMessage(), MISUSED) : MISUSED;
    }

    private static <T> Optional<T> first(Optional<T> wanted, Optional<T> otherwise) {
        return wanted.isPresent() ? wanted : otherwise;
    }

    private static int say(PrintStream stream, String text, int exitCode) {
        stream.println(text);
        stream.flush();
        return exitCode;
    }
}
