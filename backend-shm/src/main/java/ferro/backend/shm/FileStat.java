package ferro.backend.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The attributes of a file, as stat(2) returns them.
 *
 * @param device  device of the file system
 * @param inode   number of the file on the device
 * @param size    size in bytes
 * @param user    user ID of the owner
 * @param regular whether the file is a regular file, and not a folder, link, pipe, socket or device
 */
record FileStat(long device, long inode, long size, int user, boolean regular) {
    /** Mask of the file type, {@code S_IFMT} of inode(7). {@code REGULAR} is {@code S_IFREG}. */
    private static final int TYPE = 0xF000;

    private static final int REGULAR = 0x8000;

    static FileStat of(Path path, LinkOption... options) throws IOException {
        Map<String, Object> all = Files.readAttributes(path, "unix:dev,ino,size,uid,mode", options);
        return new FileStat(
                number(all, "dev"),
                number(all, "ino"),
                number(all, "size"),
                (int) number(all, "uid"),
                (number(all, "mode") & TYPE) == REGULAR);
    }

    private static long number(Map<String, Object> all, String name) {
        return ((Number) all.get(name)).longValue();
    }
}
