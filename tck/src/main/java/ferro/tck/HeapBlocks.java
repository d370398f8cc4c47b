package ferro.tck;

import ferro.DeviceTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * What stands at the addresses of {@link HeapDeviceMemory}, page by page; pages that hold only what unwritten memory holds
 * take no room. Not thread-safe.
 */
final class HeapBlocks {
    /** What every byte holds that nobody has written. */
    static final byte UNWRITTEN = (byte) 0xD6;

    /** No canonical address of any processor: a host read of it would fault at once. */
    private static final long FIRST_ADDRESS = 0x5EED_0000_0000_0000L;

    private static final int PAGE_BYTES = 1 << 18;
    private static final long GAP_BYTES = 1 << 20;

    private final TreeMap<Long, Block> byAddress = new TreeMap<>();
    private long next = FIRST_ADDRESS;
    private long liveBytes;

    /** One allocation. */
    private record Block(int device, long bytes, Map<Long, byte[]> pages) {}

    /** Returns the address of new memory; the same address is never given twice. */
    long allocate(int device, long bytes) {
        long address = next;
        next += (bytes / GAP_BYTES + 2) * GAP_BYTES;
        byAddress.put(address, new Block(device, bytes, new TreeMap<>()));
        liveBytes += bytes;
        return address;
    }

    void free(long address) {
        Block block = byAddress.remove(address);
        if (block != null) {
            liveBytes -= block.bytes;
        }
    }

    int count() {
        return byAddress.size();
    }

    long liveBytes() {
        return liveBytes;
    }

    /** Refuses a tensor that is not inside one living allocation of its device. */
    void check(DeviceTensor tensor) {
        long bytes = tensor.byteCount();
        Map.Entry<Long, Block> found = byAddress.floorEntry(tensor.address());
        boolean inside = found != null
                && found.getValue().device == tensor.device()
                && tensor.address() + bytes <= found.getKey() + found.getValue().bytes;
        if (!inside) {
            throw new IllegalArgumentException(tensor + " at 0x" + Long.toHexString(tensor.address()) + " with " + bytes
                    + " bytes is not inside living memory of its device: was it freed, or made by another memory?");
        }
    }

    /** Copies from a tensor, position to limit. */
    void read(DeviceTensor from, ByteBuffer into) {
        walk(from.address(), into, false);
    }

    /** Copies to a tensor, position to limit. */
    void write(ByteBuffer from, DeviceTensor into) {
        walk(into.address(), from, true);
    }

    private void walk(long address, ByteBuffer bytes, boolean writes) {
        if (!bytes.hasRemaining()) {
            return;
        }
        Map.Entry<Long, Block> found = byAddress.floorEntry(address);
        if (found == null) {
            throw new IllegalStateException("memory at 0x" + Long.toHexString(address) + " was freed under a copy");
        }
        long at = address - found.getKey();
        for (int done = 0, all = bytes.remaining(), start = bytes.position(); done < all; ) {
            int inPage = (int) (at % PAGE_BYTES);
            int length = Math.min(all - done, PAGE_BYTES - inPage);
            Map<Long, byte[]> pages = found.getValue().pages;
            if (!writes) {
                bytes.put(start + done, pages.getOrDefault(at / PAGE_BYTES, Blank.PAGE), inPage, length);
            } else if (pages.containsKey(at / PAGE_BYTES) || !isBlank(bytes, start + done, length)) {
                bytes.get(
                        start + done,
                        pages.computeIfAbsent(at / PAGE_BYTES, number -> page(found.getValue(), number)),
                        inPage,
                        length);
            }
            done += length;
            at += length;
        }
    }

    /** Whether a page that nobody wrote would look the same after this: it goes on taking no room. */
    private static boolean isBlank(ByteBuffer bytes, int start, int length) {
        return bytes.slice(start, length).mismatch(ByteBuffer.wrap(Blank.PAGE, 0, length)) < 0;
    }

    /** The last page ends with its block, as most blocks are a few elements. */
    private static byte[] page(Block block, long number) {
        return Arrays.copyOf(Blank.PAGE, (int) Math.min(PAGE_BYTES, block.bytes - number * PAGE_BYTES));
    }

    /** What pages look like that were never written; only read. */
    private static final class Blank {
        private static final byte[] PAGE = new byte[PAGE_BYTES];

        static {
            Arrays.fill(PAGE, UNWRITTEN);
        }
    }
}
