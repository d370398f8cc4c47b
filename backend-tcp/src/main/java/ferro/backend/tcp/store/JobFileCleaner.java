package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;

/** Removes job files that remain from killed jobs of this user. Ranks need a job file only while they join. */
final class JobFileCleaner {
    /**
     * Minimum age of a file to remove. A join is far shorter, and so is the difference between the clocks of this host
     * and of a file server.
     */
    private static final long OLD_MILLIS = Duration.ofDays(1).toMillis();

    /**
     * Maximum number of files that one call lists, because the folder may have many other files. Later starts remove
     * the rest.
     */
    private static final int MOST_LOOKED_AT = 1_000;

    private static final int MOST_READ = 16;

    private JobFileCleaner() {}

    /**
     * Removes job files of this user that no other user can read and that were not written for a day. A file that is
     * not a complete job file stays, because other programs may use the folder.
     *
     * @return number of removed files; 0 for a folder that cannot be read
     */
    static int sweep(Path folder, long nowMillis, Where where) {
        int removed = 0;
        int lookedAt = 0;
        int read = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (++lookedAt > MOST_LOOKED_AT || read == MOST_READ) {
                    break;
                }
                if (isOld(file, nowMillis)) {
                    read++;
                    removed += remove(file, where) ? 1 : 0;
                }
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            // rank 0 reports the problem with the folder when it writes its job file
            return removed;
        }
        return removed;
    }

    private static boolean isOld(Path file, long nowMillis) {
        try {
            BasicFileAttributes facts =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return facts.isRegularFile()
                    && facts.size() <= JobAddressFile.MOST_BYTES
                    && nowMillis - facts.lastModifiedTime().toMillis() > OLD_MILLIS;
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean remove(Path path, Where where) {
        JobAddressFile file =
                new JobAddressFile(path.getParent(), path.getFileName().toString());
        try {
            Optional<JobFileContent> left = file.read(where);
            if (left.isPresent()) {
                file.remove(left.get());
            }
            return left.isPresent();
        } catch (FerroException | IOException another) {
            // a file of another user, or not a job file
            return false;
        }
    }
}
