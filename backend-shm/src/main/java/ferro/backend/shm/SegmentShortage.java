package ferro.backend.shm;

import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * What a segment lacks, and the way out: room in its folder, memory of its control group, address space or open files.
 * Each is told by what the kernel has said.
 *
 * @param what what is lacking, or what was refused with the text of its errno
 * @param more how to give more of it
 */
record SegmentShortage(String what, String more) {
    /** Its reason begins so for EMFILE and ENFILE (errno(3)). */
    private static final String FILES = "Too many open files";

    private static final String OTHER_FOLDER = "name another folder by " + Settings.SHM_DIR.name();

    /** Says that there is too little room, as this process has counted or a write was told. */
    static final class NoRoom extends IOException {
        private static final long serialVersionUID = 1L;

        NoRoom(String what) {
            super(what);
        }

        NoRoom(String what, IOException full) {
            super(what, full);
        }
    }

    /** Returns what a failure of making, mapping or filling a segment has lacked. */
    static SegmentShortage of(IOException failure) {
        if (failure instanceof NoRoom) {
            return new SegmentShortage(
                    failure.getMessage(),
                    "give it more (for a container: docker run --shm-size, --memory), " + OTHER_FOLDER);
        }
        // the JDK throws this error for ENOMEM of mmap(2), and no other
        if (failure.getCause() instanceof OutOfMemoryError) {
            return new SegmentShortage(
                    "a mapping was refused: Cannot allocate memory (ENOMEM)",
                    "raise the limit of address space (ulimit -v) or of mappings (vm.max_map_count)");
        }
        if (failure instanceof FileSystemException one
                && String.valueOf(one.getReason()).startsWith(FILES)) {
            boolean ofAll = !FILES.equals(one.getReason());
            return new SegmentShortage(
                    one.getFile() + " cannot be opened: " + one.getReason() + (ofAll ? " (ENFILE)" : " (EMFILE)"),
                    "raise the limit of open files (" + (ofAll ? "fs.file-max" : "ulimit -n") + ")");
        }
        boolean says = failure.getMessage() != null && !(failure instanceof FileSystemException);
        return new SegmentShortage(says ? failure.getMessage() : failure.toString(), OTHER_FOLDER);
    }

    /** Returns what is lacking, and the ways out. */
    String text() {
        return what + ": " + more + ", or send everything over TCP with " + Settings.LINKS.name() + "=tcp";
    }
}
