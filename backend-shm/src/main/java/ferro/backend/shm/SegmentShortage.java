package ferro.backend.shm;

import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * The resource that a segment lacks, and a remedy. The resource is space in the folder, memory of the control group,
 * address space, or the number of open files. The error of the kernel shows which resource is lacking.
 *
 * @param what resource that is lacking, or request that was refused with the text of its errno
 * @param more how to provide more of the resource
 */
record SegmentShortage(String what, String more) {
    /** Start of the reason text of a FileSystemException that EMFILE or ENFILE (errno(3)) has caused. */
    private static final String FILES = "Too many open files";

    private static final String OTHER_FOLDER = "name another folder by " + Settings.SHM_DIR.name();

    /** An exception for a lack of space, which this process has computed or a write has reported. */
    static final class NoSpaceException extends IOException {
        private static final long serialVersionUID = 1L;

        NoSpaceException(String what) {
            super(what);
        }

        NoSpaceException(String what, IOException full) {
            super(what, full);
        }
    }

    /** Returns the resource whose lack caused a failure of the creation, the mapping or the filling of a segment. */
    static SegmentShortage of(IOException failure) {
        if (failure instanceof NoSpaceException) {
            return new SegmentShortage(
                    failure.getMessage(),
                    "give it more (for a container: docker run --shm-size, --memory), " + OTHER_FOLDER);
        }
        // the JDK throws this error for ENOMEM of mmap(2), and for no other errno
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

    /** Returns the lacking resource and the remedies, for messages. */
    String text() {
        return what + ": " + more + ", or send everything over TCP with " + Settings.LINKS.name() + "=tcp";
    }
}
