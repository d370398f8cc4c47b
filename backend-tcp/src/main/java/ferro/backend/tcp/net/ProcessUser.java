package ferro.backend.tcp.net;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The user of this process in the file system. Numbers identify the user, because a container may have no user names.
 *
 * @param uid    user id
 * @param groups group ids of the process, including the primary one
 */
public record ProcessUser(int uid, Set<Integer> groups) {
    private static final int ROOT = 0;
    private static final int OTHERS = 0077;
    private static final int BITS = 07777;
    /** Column of the file system id in a line of /proc/self/status, after the real, effective and saved id. */
    private static final int OF_FILE_SYSTEM = 3;

    /** Returns whether the file system of the given file has users and modes. */
    public static boolean knownTo(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("unix");
    }

    /** Reads the user from /proc. Without /proc, creates a temporary file, reads its owner, and deletes the file. */
    public static ProcessUser ofProcess() throws IOException {
        Path status = LinuxFiles.HOST.path("self/status");
        return Files.isReadable(status) ? of(Files.readAllLines(status)) : ofNewFile();
    }

    /** Parses the lines of a status file. */
    static ProcessUser of(List<String> status) {
        int[] users = numbers(status, "Uid:");
        int[] primary = numbers(status, "Gid:");
        Stream<Integer> all = Stream.concat(
                Stream.of(primary[OF_FILE_SYSTEM]),
                Arrays.stream(numbers(status, "Groups:")).boxed());
        return new ProcessUser(users[OF_FILE_SYSTEM], all.collect(Collectors.toUnmodifiableSet()));
    }

    private static int[] numbers(List<String> status, String field) {
        return status.stream()
                .filter(line -> line.startsWith(field))
                .flatMap(line -> Stream.of(line.substring(field.length()).trim().split("\\s+")))
                .filter(word -> !word.isEmpty())
                .mapToInt(Integer::parseUnsignedInt)
                .toArray();
    }

    private static ProcessUser ofNewFile() throws IOException {
        Path made = Files.createTempFile("ferro-", ".user");
        try {
            return new ProcessUser((Integer) Files.getAttribute(made, "unix:uid"), Set.of());
        } finally {
            Files.delete(made);
        }
    }

    boolean owns(int owner) {
        return uid == owner;
    }

    /**
     * Returns whether a file of root that a group can read is meant for this process. Kubernetes mounts secrets as
     * group-readable files for a pod's fsGroup. If the process is root, a file of group 0 is not accepted, because root
     * with a careless umask also makes such files.
     */
    boolean isGivenByRoot(int owner, int group) {
        return owner == ROOT && groups.contains(group) && !(uid == ROOT && group == ROOT);
    }

    /**
     * Checks that only this user can open a file.
     *
     * @param facts at least {@code uid} and {@code mode} of view {@code unix}
     * @return the problem, as text that follows the name of the file; empty without a problem
     */
    public Optional<String> checkOwn(Map<String, Object> facts) {
        int owner = (Integer) facts.get("uid");
        int mode = (Integer) facts.get("mode");
        if (!owns(owner)) {
            return Optional.of("belongs to user " + Integer.toUnsignedString(owner) + ", and this process is user "
                    + Integer.toUnsignedString(uid));
        }
        return (mode & OTHERS) == 0
                ? Optional.empty()
                : Optional.of("can be opened by others (mode " + Integer.toOctalString(mode & BITS) + ")");
    }
}
