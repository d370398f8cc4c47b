package ferro.examples.textmodel;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Optional;

/** Trains a character-level language model on all ranks of the job; {@code ./ferro demo} starts four of these. */
public final class TextModelMain {
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    private final PrintStream out;
    private final PrintStream err;

    private TextModelMain(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /**
     * Runs one rank, ends the process: 0 done and checked, 1 a check or the communication failed, 2 wrong use.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String[] arguments) {
        // The plot needs no screen, and a machine without one must not matter.
        System.setProperty("java.awt.headless", "true");
        System.exit(new TextModelMain(System.out, System.err).run(arguments));
    }

    private int run(String... arguments) {
        SystemContext process = SystemContext.ofProcess();
        int rank = first(Settings.RANK.find(process), Settings.ENV_RANK.find(process))
                .orElse(0);
        if (Arrays.asList(arguments).contains("--help")) {
            return rank == 0 ? say(out, Options.USAGE, 0) : 0;
        }
        try {
            Options options = Options.parse(arguments);
            TextSource source = TextSource.read(options.text());
            // Looked at before joining, so that a wrong option costs no waiting; the job looks again.
            TextModelJob.batches(options, source);
            first(Settings.WORLD_SIZE.find(process), Settings.ENV_WORLD_SIZE.find(process))
                    .ifPresent(worldSize -> Batches.checkRanks(options.batch(), worldSize));
            return train(options, source);
        } catch (UsageException misuse) {
            return rank == 0 ? say(err, "ferro demo: " + misuse.getMessage(), MISUSED) : MISUSED;
        } catch (FerroException | IOException failure) {
            return say(err, "ferro demo: rank " + rank + ": " + failure, FAILED);
        }
    }

    private int train(Options options, TextSource source) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            return new TextModelJob(group, options, source, out).run();
        }
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
