package ferro.launcher.output;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The folder of {@code --log-dir}. File {@code rank-R.log} has the standard output of rank R, and {@code rank-R.err}
 * its standard error. If a file cannot be written, the job continues. The screen shows one warning about all files that
 * cannot be written, and the file later contains the number of missing bytes.
 */
public final class RankLogFolder {
    private final Optional<Path> folder;
    private final Screen screen;
    private final AtomicBoolean warned = new AtomicBoolean();

    private RankLogFolder(Optional<Path> folder, Screen screen) {
        this.folder = folder;
        this.screen = screen;
    }

    /**
     * Creates the folder of the log before any rank is started. Throws if the folder cannot be created.
     *
     * @param folder folder that the user has named; empty for no log
     * @param screen shows the warning about files that cannot be written
     */
    public static RankLogFolder in(Optional<Path> folder, Screen screen) {
        folder.ifPresent(path -> {
            try {
                Files.createDirectories(path);
            } catch (IOException failure) {
                throw new BadInputException("--log-dir " + path + ": cannot be created (" + failure + ")", failure);
            }
            if (!Files.isWritable(path)) {
                throw new BadInputException("--log-dir " + path + ": cannot be written to");
            }
        });
        return new RankLogFolder(folder, screen);
    }

    /** Returns the log of one generation of ranks, in a subfolder. */
    public RankLogFolder ofGeneration(int generation) {
        Optional<Path> below = folder.map(path -> path.resolve("generation-" + generation));
        below.ifPresent(path -> {
            try {
                Files.createDirectories(path);
            } catch (IOException failure) {
                warn(path, failure);
            }
        });
        return new RankLogFolder(below, screen);
    }

    /** Opens a file of a rank, and replaces an older file. Writes to the returned stream and its close never fail. */
    public OutputStream open(int rank, Screen.StreamName stream) {
        if (folder.isEmpty()) {
            return OutputStream.nullOutputStream();
        }
        String ending = stream == Screen.StreamName.OUT ? ".log" : ".err";
        LogFile file = new LogFile(folder.get().resolve("rank-" + rank + ending));
        // creates the file, also for a rank that prints nothing
        file.write(new byte[0], 0, 0);
        return file;
    }

    private void warn(Path path, IOException failure) {
        if (warned.compareAndSet(false, true)) {
            screen.note(
                    "WARNING: " + path + " cannot be written (" + failure.getMessage()
                            + "): the output of the ranks is shown, but it is missing in the files of --log-dir; the job continues");
        }
    }

    /** One file of the log. Each write tries again after a failure, because a full disk may have space later. */
    private final class LogFile extends OutputStream {
        private final Path path;
        private OutputStream file;
        private long missingBytes;

        LogFile(Path path) {
            this.path = path;
        }

        @Override
        public void write(int next) {
            write(new byte[] {(byte) next}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            try {
                if (file == null) {
                    file = Files.newOutputStream(path);
                }
                if (missingBytes > 0) {
                    file.write(("\nferro: up to " + missingBytes + " bytes are missing here\n")
                            .getBytes(StandardCharsets.US_ASCII));
                    missingBytes = 0;
                }
                file.write(bytes, from, length);
            } catch (IOException failure) {
                missingBytes += length;
                warn(path, failure);
            }
        }

        @Override
        public void close() {
            if (file == null) {
                return;
            }
            try {
                file.close();
            } catch (IOException failure) {
                warn(path, failure);
            }
        }
    }
}
