package ferro.backend.shm;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Removes the segment files of this user's dead processes. A segment file has a name only while its group is created.
 * So only a process that is killed while a group is created leaves a file. The memory of a file without a name is freed
 * when the last process that has opened the file ends.
 */
final class SegmentCleaner {
    /**
     * Age after which files of another namespace count as left over. The processes of another namespace (another
     * container that uses the same folder) are not visible. The creation of a group takes far less than a day. If a
     * file is removed too early, its group only has no shared memory.
     */
    private static final long UNSEEN_MILLIS = Duration.ofDays(1).toMillis();

    private SegmentCleaner() {}

    /** Removes leftover files and returns their number. Returns 0 for a folder that cannot be read. */
    static int sweep(Path folder, ProcessIdentity process) {
        int removed = 0;
        try (DirectoryStream<Path> ours = Files.newDirectoryStream(folder, "ferro-*")) {
            for (Path file : ours) {
                removed += isLeft(file, process) && remove(file) ? 1 : 0;
            }
        } catch (IOException | RuntimeException unreadable) {
            // the creation of a segment reports the problem with the folder, if the problem still exists
            return removed;
        }
        return removed;
    }

    private static boolean isLeft(Path file, ProcessIdentity process) {
        Optional<SegmentName> name = SegmentName.parse(file.getFileName().toString());
        return name.isPresent() && isOurs(file, process) && isDead(name.get(), file, process);
    }

    private static boolean isOurs(Path file, ProcessIdentity process) {
        try {
            FileStat facts = FileStat.of(file, LinkOption.NOFOLLOW_LINKS);
            return facts.regular() && facts.user() == process.user();
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean isDead(SegmentName name, Path file, ProcessIdentity process) {
        if (name.namespace() == process.namespace()) {
            return !process.runs(name.pid(), name.startTicks());
        }
        long age = System.currentTimeMillis() - file.toFile().lastModified();
        return age > UNSEEN_MILLIS;
    }

    private static boolean remove(Path file) {
        try {
            Files.delete(file);
            return true;
        } catch (NoSuchFileException another) {
            return false;
        } catch (IOException kept) {
            return false;
        }
    }
}
