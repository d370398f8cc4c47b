package ferro.backend.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * A mapper of files, which unmaps files immediately on request. Without a mapper, only the garbage collector unmaps a
 * buffer that {@link FileChannel} has mapped.
 */
interface FileMapper {
    /** First JDK whose {@code java.lang.foreign} is not a preview (JEP 454). */
    int FIRST_WITH_ARENAS = 22;

    /** Returns the best mapper of this JDK. */
    static FileMapper ofThisJdk() {
        return Runtime.version().feature() >= FIRST_WITH_ARENAS ? new ArenaMapper() : new UnsafeMapper();
    }

    /**
     * Maps a part of a file. The whole part must be inside the file.
     *
     * @throws IOException if no address space is free for the mapping
     */
    Mapping map(FileChannel file, long from, long bytes) throws IOException;

    /**
     * A mapped part of a file.
     *
     * @param bytes all mapped bytes, in native order
     * @param unmap unmaps the bytes; may run only once
     */
    record Mapping(ByteBuffer bytes, Runnable unmap) implements AutoCloseable {
        @Override
        public void close() {
            unmap.run();
        }
    }
}
