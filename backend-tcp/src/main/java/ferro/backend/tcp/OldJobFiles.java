package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.JobFile.Entry;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;

/** Removes the job files that killed jobs of this user have left: a file is of use only while ranks join. */
final class OldJobFiles {
    /** Far longer than joining takes; the clocks of a file system's server and of this host differ by less. */
    private static final long OLD_MILLIS = Duration.ofDays(1).toMillis();

    /** A folder may be one for other things, and reading a job file lists it: what is left stays for the next start. */
    private static final int MOST_LOOKED_AT = 1_000;

    private static final int MOST_READ = 16;

    private OldJobFiles() {}

    /**
     * Removes those of this user's that can be read by nobody else and were not written for a day; whatever is no whole job file
     * stays, since the folder may be one for other things, too.
     *
     * @return how many it removed; a folder that cannot be read has none
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
            // writing the file of this start tells what is wrong with the folder
            return removed;
        }
        return removed;
    }

    private static boolean isOld(Path file, long nowMillis) {
        try {
            BasicFileAttributes facts =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return facts.isRegularFile()
                    && facts.size() <= JobFile.MOST_BYTES
                    && nowMillis - facts.lastModifiedTime().toMillis() > OLD_MILLIS;
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean remove(Path path, Where where) {
        JobFile file = new JobFile(path.getParent(), path.getFileName().toString());
        try {
            Optional<Entry> left = file.read(where);
            if (left.isPresent()) {
                file.remove(left.get());
            }
            return left.isPresent();
        } catch (FerroException | IOException another) {
            // somebody else's, or no job file
            return false;
        }
    }
}
