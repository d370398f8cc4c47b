package ferro.backend.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Maps files, and unmaps them at once: a buffer of {@link FileChannel} alone goes when the collector finds it. */
interface Mapper {
    /** First JDK whose {@code java.lang.foreign} is no preview (JEP 454). */
    int FIRST_WITH_ARENAS = 22;

    /** Returns the best of this JDK. */
    static Mapper ofThisJdk() {
        return Runtime.version().feature() >= FIRST_WITH_ARENAS ? new ArenaMapper() : new UnsafeMapper();
    }

    /**
     * Maps a part of a file that is at least so long.
     *
     * @throws IOException if there is no address space for it
     */
    Mapping map(FileChannel file, long from, long bytes) throws IOException;

    /** What is mapped. */
    interface Mapping extends AutoCloseable {
        /** Returns all of it, in native order; the same object at each call. */
        ByteBuffer bytes();

        /** Unmaps; only once. */
        @Override
        void close();
    }
}
