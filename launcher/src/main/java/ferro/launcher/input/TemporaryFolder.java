package ferro.launcher.input;

import ferro.spi.Settings;
import ferro.spi.TemporaryFiles;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;

/** Creates folders for temporary files of the launcher. Only the current user can read the folders. */
public final class TemporaryFolder {
    private static final String VARIABLE = Settings.TMPDIR.variable();

    /** The size of a test file, which is enough for a secret and the classes of a small program. */
    private static final int PROBE_BYTES = 1 << 16;

    private TemporaryFolder() {}

    /** Returns the folder for temporary files that the environment names; empty if the environment names no folder. */
    public static Optional<String> named(Map<String, String> environment) {
        return Optional.ofNullable(environment.get(VARIABLE)).filter(text -> !text.isBlank());
    }

    /**
     * Creates a folder. The parent folder is {@code java.io.tmpdir} if this property names another folder than {@code
     * /tmp}, or else TMPDIR, or else {@code /tmp}.
     *
     * @param prefix beginning of the folder's name
     * @throws BadInputException if no file can be written in the folder; the message gives the folder and what to do
     */
    public static Path make(String prefix, Map<String, String> environment) {
        Path parent = TemporaryFiles.folder(named(environment));
        try {
            Path made = Files.createTempDirectory(
                    parent, prefix, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            probe(made);
            return made;
        } catch (IOException failure) {
            throw new BadInputException(
                    "temporary folder " + parent + ": cannot be written (" + reason(failure)
                            + "): free space there, or name another folder with " + VARIABLE,
                    failure);
        }
    }

    /** Writes a file and removes it again. On a full disk, a folder can be created, but no file can be written. */
    private static void probe(Path folder) throws IOException {
        Path file = folder.resolve("probe");
        try {
            Files.write(file, new byte[PROBE_BYTES]);
            Files.delete(file);
        } catch (IOException failure) {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
            throw failure;
        }
    }

    private static String reason(IOException failure) {
        if (failure instanceof NoSuchFileException) {
            return "no such folder";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        String reason = failure instanceof FileSystemException ofFile ? ofFile.getReason() : failure.getMessage();
        return reason == null ? failure.getClass().getSimpleName() : reason;
    }
}
