package ferro.backend.tcp.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;

/**
 * Reads and creates secret files, for ranks and for launchers. A secret is the bytes of its file in any encoding,
 * without the spaces, tabs and line ends that editors and {@code echo} append.
 *
 * <p>Two kinds of secret files are accepted. A file of this process's user is accepted if no other user can open it
 * (mode 0600 or less). A file of root is accepted if a group of this process may read it and no other user may write
 * it. Kubernetes mounts secrets of a pod with {@code fsGroup} as files of root with mode 0440. Symbolic links are
 * followed.
 */
public final class SecretFile {
    static final int MOST_BYTES = 4096;

    /** Minimum number of random bytes of a secret that processes on other hosts could try to guess. */
    public static final int LEAST_RANDOM_BYTES = 16;

    /** Number of random bytes of a new secret, which is the length of a SHA-256 digest. */
    static final int FRESH_BYTES = 32;

    private SecretFile() {}

    /**
     * Reads a secret.
     *
     * @param file file of 1 to {@value #MOST_BYTES} bytes. If the file system has users and modes, the file must belong
     *     to this user, without permissions for other users, or to root, with read permission for a group of this
     *     process
     * @return secret, of at least one byte
     * @throws IOException naming file and reason, never the content, if the file cannot be read, belongs to another
     *     user, is open to other users, is too long, or has only white space
     */
    public static byte[] read(Path file) throws IOException {
        return ProcessUser.knownTo(file) ? read(file, ProcessUser.ofProcess()) : content(file);
    }

    static byte[] read(Path file, ProcessUser user) throws IOException {
        checkFor(user, file);
        return content(file);
    }

    /**
     * Creates a file with a fresh secret: 32 random bytes in hexadecimal, mode 0600 from the start.
     *
     * @param file file that does not exist yet
     * @throws java.nio.file.FileAlreadyExistsException if a file or folder of this name exists
     * @throws IOException                              if the file cannot be written; no part of the file is left
     */
    public static void create(Path file) throws IOException {
        create(file, fresh());
    }

    /**
     * Creates a file with a given secret: its bytes in hexadecimal, mode 0600 from the start.
     *
     * @param file   file that does not exist yet
     * @param random bytes that only the caller has
     * @throws java.nio.file.FileAlreadyExistsException if a file or folder of this name exists
     * @throws IOException                              if the file cannot be written; no part of the file is left
     */
    public static void create(Path file, byte[] random) throws IOException {
        byte[] text = HexFormat.of().formatHex(random).getBytes(StandardCharsets.US_ASCII);
        try (FileChannel channel = FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), ownersOnly(file))) {
            channel.write(ByteBuffer.wrap(text));
            channel.force(true);
        } catch (java.nio.file.FileAlreadyExistsException there) {
            throw there;
        } catch (IOException failure) {
            Files.deleteIfExists(file);
            throw failure;
        }
    }

    /** Returns the random bytes of a new secret. */
    public static byte[] fresh() {
        byte[] random = new byte[FRESH_BYTES];
        new SecureRandom().nextBytes(random);
        return random;
    }

    /** Returns the file attribute for mode 0600; empty if the file system has no modes. */
    public static FileAttribute<?>[] ownersOnly(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(
                            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE))
                }
                : new FileAttribute<?>[0];
    }

    /**
     * Returns the maximum number of random bytes that a secret can have.
     *
     * @param secret bytes of the secret
     * @return length of the secret in bytes; half of the length if all bytes are hexadecimal digits
     */
    public static int randomBytes(byte[] secret) {
        for (byte one : secret) {
            if (Character.digit(one, 16) < 0) {
                return secret.length;
            }
        }
        return secret.length / 2;
    }

    private static void checkFor(ProcessUser user, Path file) throws IOException {
        Map<String, Object> facts = facts(file);
        if (!Boolean.TRUE.equals(facts.get("isRegularFile"))) {
            throw new IOException(file + " is not a file: need a file of mode 0600");
        }
        int owner = (Integer) facts.get("uid");
        int group = (Integer) facts.get("gid");
        Set<PosixFilePermission> mode = mode(facts);
        Set<PosixFilePermission> others = EnumSet.copyOf(mode);
        others.removeAll(PosixFilePermissions.fromString("rwx------"));
        if (user.isGivenByRoot(owner, group)) {
            others.remove(PosixFilePermission.GROUP_READ);
        }
        if (!others.isEmpty()) {
            throw new IOException(file + " can be opened by others (" + others + "): it has permissions "
                    + PosixFilePermissions.toString(mode) + ", need rw------- (mode 0600: chmod 600 " + file + ")");
        }
        if (!user.owns(owner) && !user.isGivenByRoot(owner, group)) {
            throw new IOException(
                    file + " belongs to user " + Integer.toUnsignedString(owner) + ", and this process is user "
                            + Integer.toUnsignedString(user.uid())
                            + ": need a file of this user with mode 0600, or a file of root that a group of this "
                            + "process can read (in Kubernetes: securityContext.fsGroup)");
        }
    }

    @SuppressWarnings("unchecked")
    private static Set<PosixFilePermission> mode(Map<String, Object> facts) {
        Set<PosixFilePermission> mode = EnumSet.noneOf(PosixFilePermission.class);
        mode.addAll((Set<PosixFilePermission>) facts.get("permissions"));
        return mode;
    }

    private static Map<String, Object> facts(Path file) throws IOException {
        try {
            return Files.readAttributes(file, "unix:uid,gid,permissions,isRegularFile");
        } catch (FileSystemException absent) {
            throw unreadable(file, absent);
        }
    }

    private static byte[] content(Path file) throws IOException {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IOException(file + " has " + Files.size(file) + " bytes: need at most " + MOST_BYTES);
            }
            byte[] bytes = stripped(Files.readAllBytes(file));
            if (bytes.length == 0) {
                throw new IOException(file + " has 0 bytes besides white space: need at least 1");
            }
            return bytes;
        } catch (FileSystemException denied) {
            throw unreadable(file, denied);
        }
    }

    private static IOException unreadable(Path file, IOException cause) {
        return new IOException(
                file + " cannot be read (" + cause + "): need a file of mode 0600; ferro secret " + file + " makes one",
                cause);
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
