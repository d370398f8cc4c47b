package ferro.backend.tcp;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * The one way to read a secret from a file, for ranks and for launchers: its bytes as they are, of any encoding, without the
 * spaces, tabs and line ends at the end that editors and {@code echo} leave there.
 */
public final class SecretFile {
    /** Longest file that can be a secret. */
    public static final int MOST_BYTES = 4096;

    private SecretFile() {}

    /**
     * Reads a secret from a file that nobody but its owner can open.
     *
     * @param file of 1 to {@value #MOST_BYTES} bytes, mode 0600 where the file system knows modes
     * @return secret, of at least one byte
     * @throws IOException naming file and reason, never the content, if it cannot be read, is open to others, too long, or
     *     has nothing but white space
     */
    public static byte[] read(Path file) throws IOException {
        Set<PosixFilePermission> others = others(file);
        if (!others.isEmpty()) {
            throw new IOException(file + " can be opened by others (" + others + "): need mode 0600");
        }
        byte[] bytes = stripped(content(file));
        if (bytes.length == 0) {
            throw new IOException(file + " has 0 bytes beside white space: need at least 1");
        }
        return bytes;
    }

    private static Set<PosixFilePermission> others(Path file) throws IOException {
        Set<PosixFilePermission> mode = EnumSet.noneOf(PosixFilePermission.class);
        try {
            if (Files.getFileStore(file).supportsFileAttributeView("posix")) {
                mode.addAll(Files.getPosixFilePermissions(file));
            }
        } catch (FileSystemException absent) {
            throw unreadable(file, absent);
        }
        mode.removeAll(PosixFilePermissions.fromString("rwx------"));
        return mode;
    }

    private static byte[] content(Path file) throws IOException {
        if (Files.size(file) > MOST_BYTES) {
            throw new IOException(file + " has " + Files.size(file) + " bytes: need at most " + MOST_BYTES);
        }
        try {
            return Files.readAllBytes(file);
        } catch (FileSystemException denied) {
            throw unreadable(file, denied);
        }
    }

    private static IOException unreadable(Path file, IOException cause) {
        return new IOException(file + " cannot be read (" + cause + "): need a file of mode 0600", cause);
    }

    private static byte[] stripped(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && isWhite(bytes[end - 1])) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    private static boolean isWhite(byte last) {
        return last == ' ' || last == '\t' || last == '\r' || last == '\n';
    }
}
