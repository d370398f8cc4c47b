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

/**
 * The main program, which trains a character-level language model on all ranks of the job. {@code ./ferro demo} starts
 * four of these programs.
 */
public final class TextModelMain {
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    /**
     * Time limit from SIGTERM to the exit. The limit is less than the time after which the launcher kills the process.
     */
    private static final Duration LEAVE_WITHIN = Duration.ofSeconds(8);

    private final RankContext process;
    private final PrintStream out;
    private final PrintStream err;
    private final StopRequest stop;

    /**
     * Creates the program of one process.
     *
     * @param process rank and world size
     * @param out     stream for the reports of rank 0
     * @param err     stream for failures
     * @param stop    request that ends the training early
     */
    TextModelMain(RankContext process, PrintStream out, PrintStream err, StopRequest stop) {
        this.process = process;
        this.out = out;
        this.err = err;
        this.stop = stop;
    }

    /**
     * Runs one rank and ends the process. The exit code is 0 if the training is done and checked, 1 if a check or the
     * communication failed, and 2 for a usage error. The exit code is 143 after SIGTERM. After SIGTERM, the rank first
     * completes the current step and writes a checkpoint, if an option asks for one.
     *
     * @param arguments options, which {@code --help} lists
     */
    public static void main(String[] arguments) {
        // The plot needs no screen and must work on a machine without a screen.
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
     * @return lines, each with a line end
     */
    public static String usage() {
        return Options.USAGE;
    }

    /**
     * Checks a command line as every rank does before it joins. A launcher can therefore reject a wrong command line
     * before it starts ranks.
     *
     * @param worldSize number of ranks of the job
     * @param arguments as for {@link #main}
     * @throws IllegalArgumentException if an option or the text is wrong; the message names the option and its value,
     *     or the problem of the text
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
            // the options are checked before the join, so that no rank waits if an option is wrong; the job checks the
            // options again
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

    /** Prints a usage error on rank 0 only, because all ranks find the same error. */
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
