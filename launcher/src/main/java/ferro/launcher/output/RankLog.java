package ferro.launcher.output;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The folder of {@code --log-dir}: {@code rank-R.log} holds the standard output of rank R, {@code rank-R.err} its standard
 * error.
 */
public final class RankLog {
    private final Optional<Path> folder;

    private RankLog(Optional<Path> folder) {
        this.folder = folder;
    }

    /** Makes the folder, or throws before anything has been started. */
    public static RankLog in(Optional<Path> folder) {
        folder.ifPresent(path -> {
            try {
                Files.createDirectories(path);
            } catch (IOException failure) {
                throw new BadInputException("--log-dir " + path + ": cannot be made (" + failure + ")", failure);
            }
            if (!Files.isWritable(path)) {
                throw new BadInputException("--log-dir " + path + ": cannot be written to");
            }
        });
        return new RankLog(folder);
    }

    /** Opens a file of a rank; an older file is replaced. */
    public OutputStream open(int rank, Screen.Name stream) throws IOException {
        if (folder.isEmpty()) {
            return OutputStream.nullOutputStream();
        }
        String ending = stream == Screen.Name.OUT ? ".log" : ".err";
        return Files.newOutputStream(folder.get().resolve("rank-" + rank + ending));
    }
}
