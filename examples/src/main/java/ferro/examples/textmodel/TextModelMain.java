package ferro.examples.textmodel;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.PrintStream;

/** The main program, which trains a language model on all ranks of the job. {@code ./ferro demo} starts four of them. */
public final class TextModelMain {
    private TextModelMain() {}

    /**
     * Runs one rank and ends the process. The exit code is 0 if the training is done and checked, 1 if a check or the
     * communication failed, and 2 for a usage error.
     *
     * @param arguments options, as {@link #usage} lists them
     */
    public static void main(String[] arguments) {
        System.exit(run(SystemContext.ofProcess(), System.out, System.err, arguments));
    }

    /** {@return the help text of the command line, lines that each have a line end} */
    public static String usage() {
        return Options.USAGE;
    }

    /**
     * Checks a command line as every rank does before it joins.
     *
     * @param worldSize number of ranks of the job
     * @param arguments as for {@link #main}
     * @throws IllegalArgumentException if an option or the text is wrong; the message names the option and its value,
     *     or the problem of the text
     */
    public static void check(int worldSize, String... arguments) {
        Options options = Options.parse(arguments);
        Batches.of(options, TrainingText.read(options.text()), worldSize);
    }

    static int run(RankContext process, PrintStream out, PrintStream err, String... arguments) {
        int rank = Settings.ENV_RANK.find(process).orElse(0);
        try {
            Options options = Options.parse(arguments);
            TrainingText source = TrainingText.read(options.text());
            // checked before the join, so that no rank waits if an option is wrong
            Batches.of(options, source, Settings.ENV_WORLD_SIZE.find(process).orElse(1));
            try (ProcessGroup group = ProcessGroup.join()) {
                int cores = Settings.LOCAL_CORES
                        .find(process)
                        .orElse(Runtime.getRuntime().availableProcessors());
                return new TextModelRank(group, options, source, cores, out).run();
            }
        } catch (IllegalArgumentException misuse) {
            if (rank == 0) { // all ranks find the same error
                err.println("ferro demo: " + misuse.getMessage());
            }
            return 2;
        } catch (FerroException failure) {
            err.println("ferro demo: " + failure.code() + ": " + failure.getMessage());
            return 1;
        }
    }
}
