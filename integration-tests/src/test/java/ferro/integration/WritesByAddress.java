package ferro.integration;

import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import ferro.Allocation;
import ferro.DataType;
import ferro.harness.Ranks;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Has two ranks of this JVM allocate tensors and close their groups, and lets the C library write to them after that. The
 * argument is what is kept: {@code buffer} or {@code allocation}.
 */
final class WritesByAddress {
    static final String WRITTEN = "written by address";
    private static final int ELEMENTS = 1 << 20;

    static {
        Native.register(WritesByAddress.class, "c");
    }

    private WritesByAddress() {}

    private static native Pointer memset(Pointer to, int value, NativeLong bytes);

    public static void main(String[] arguments) {
        boolean keepsBuffer = arguments[0].equals("buffer");
        Map<Integer, Object> kept = new ConcurrentHashMap<>();
        Map<Integer, Pointer> addresses = new ConcurrentHashMap<>();
        try (Ranks ranks = Ranks.over("shm", 2)) {
            ranks.ends(group -> {
                Allocation made = group.allocate(DataType.FLOAT32, ELEMENTS);
                if (!made.isShared()) {
                    throw new IllegalStateException("rank " + group.rank() + ": " + made.whyNotShared());
                }
                ByteBuffer buffer = made.tensor().buffer();
                kept.put(group.rank(), keepsBuffer ? buffer : made);
                addresses.put(group.rank(), Native.getDirectBufferPointer(buffer));
            });
        }
        System.gc();
        for (int rank = 0; rank < 2; rank++) {
            write(rank, addresses.get(rank));
        }
        Reference.reachabilityFence(kept);
        System.out.println(WRITTEN);
    }

    private static void write(int rank, Pointer to) {
        long bytes = (long) ELEMENTS * Float.BYTES;
        memset(to, 7 + rank, new NativeLong(bytes));
        for (long at = 0; at < bytes; at++) {
            if (to.getByte(at) != 7 + rank) {
                throw new IllegalStateException("rank " + rank + ": byte " + at + " is " + to.getByte(at));
            }
        }
    }
}
