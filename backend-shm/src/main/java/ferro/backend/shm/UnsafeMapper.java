package ferro.backend.shm;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * A mapper that unmaps buffers by {@code sun.misc.Unsafe.invokeCleaner} on JDK 17 to 21. On these JDKs, access to an
 * unmapped buffer ends the JVM. This class uses reflection, because the compiler warns of every mention of
 * {@code Unsafe}, and the build treats warnings as errors.
 */
final class UnsafeMapper implements FileMapper {
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
        // the cleaner accepts only the original buffer, not a view of this buffer
        MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, from, bytes);
        return new Mapping(mapped.duplicate().order(ByteOrder.nativeOrder()), () -> unmap(mapped));
    }

    private void unmap(MappedByteBuffer mapped) {
        try {
            invokeCleaner.invoke(unsafe, mapped);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException("cannot unmap " + mapped.capacity() + " bytes", impossible);
        }
    }
}
