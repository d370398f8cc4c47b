package ferro.backend.shm;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Unmaps by {@code sun.misc.Unsafe.invokeCleaner}, for JDK 17 to 21: access to a buffer after it was unmapped ends the
 * JVM. It uses reflection, because the compiler warns of every mention of it and our warnings are errors.
 */
final class UnsafeMapper implements Mapper {
    private final Object unsafe;
    private final Method invokeCleaner;

    UnsafeMapper() {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field instance = type.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            unsafe = instance.get(null);
            invokeCleaner = type.getMethod("invokeCleaner", ByteBuffer.class);
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException("JDK " + Runtime.version() + " has no Unsafe.invokeCleaner", absent);
        }
    }

    @Override
    public Mapping map(FileChannel file, long from, long bytes) throws IOException {
        return new Cleaned(file.map(FileChannel.MapMode.READ_WRITE, from, bytes));
    }

    private final class Cleaned implements Mapping {
        /** The original buffer: the cleaner does not accept a view of it. */
        private final MappedByteBuffer mapped;

        private final ByteBuffer bytes;

        Cleaned(MappedByteBuffer mapped) {
            this.mapped = mapped;
            bytes = mapped.duplicate().order(ByteOrder.nativeOrder());
        }

        @Override
        public ByteBuffer bytes() {
            return bytes;
        }

        @Override
        public void close() {
            try {
                invokeCleaner.invoke(unsafe, mapped);
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException("cannot unmap " + bytes.capacity() + " bytes", impossible);
            }
        }
    }
}
