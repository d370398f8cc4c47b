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
 * Removes the files of this user's dead processes. A file has a name only while a group is made, so a process that was killed
 * then leaves it; memory of later times goes with its last process by itself.
 */
final class Leftovers {
    /**
     * Processes of another namespace (another container on the same folder) cannot be seen: their files count as left after a
     * day, far longer than making a group takes. A group that is still being made then goes without shared memory, no more.
     */
    private static final long UNSEEN_MILLIS = Duration.ofDays(1).toMillis();

    private Leftovers() {}

    /** Returns how many it removed; a folder that cannot be read has none. */
    static int sweep(Path folder, ThisProcess process) {
        int removed = 0;
        try (DirectoryStream<Path> ours = Files.newDirectoryStream(folder, "ferro-*")) {
            for (Path file : ours) {
                removed += isLeft(file, process) && remove(file) ? 1 : 0;
            }
        } catch (IOException | RuntimeException unreadable) {
            // making a segment tells what is wrong with the folder, if it still is
            return removed;
        }
        return removed;
    }

    private static boolean isLeft(Path file, ThisProcess process) {
        Optional<SegmentName> name = SegmentName.parse(file.getFileName().toString());
        return name.isPresent() && isOurs(file, process) && isDead(name.get(), file, process);
    }

    private static boolean isOurs(Path file, ThisProcess process) {
        try {
            FileFacts facts = FileFacts.of(file, LinkOption.NOFOLLOW_LINKS);
            return facts.regular() && facts.user() == process.user();
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean isDead(SegmentName name, Path file, ThisProcess process) {
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
