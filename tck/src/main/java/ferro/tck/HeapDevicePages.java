package ferro.tck;

import ferro.DeviceTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes at the addresses of {@code HeapDeviceMemory}, stored in pages. A page with the content of unwritten memory
 * uses no memory. Instances are not thread-safe.
 */
final class HeapDevicePages {
    /** Value of every unwritten byte. */
    static final byte UNWRITTEN = (byte) 0xD6;

    /**
     * The first address. No processor has this address, because the address is not canonical. So a read on the host
     * faults at once.
     */
    private static final long FIRST_ADDRESS = 0x5EED_0000_0000_0000L;

    private static final int PAGE_BYTES = 1 << 18;
    private static final long GAP_BYTES = 1 << 20;

    private final TreeMap<Long, HeapBlock> byAddress = new TreeMap<>();
    private long next = FIRST_ADDRESS;
    private long liveBytes;

    /** One allocation, with the pages that were written. */
    private record HeapBlock(int device, long bytes, Map<Long, byte[]> pages) {}

    /** Allocates memory and returns its address. No address is returned twice. */
    long allocate(int device, long bytes) {
        long address = next;
        next += (bytes / GAP_BYTES + 2) * GAP_BYTES;
        byAddress.put(address, new HeapBlock(device, bytes, new TreeMap<>()));
        liveBytes += bytes;
        return address;
    }

    /** Frees memory. An address that is not allocated is ignored. */
    void free(long address) {
        HeapBlock block = byAddress.remove(address);
        if (block != null) {
            liveBytes -= block.bytes;
        }
    }

    /** Returns the number of live allocations. */
    int count() {
        return byAddress.size();
    }

    /** Returns the bytes of all live allocations. */
    long liveBytes() {
        return liveBytes;
    }

    /** Throws an exception if a tensor is not inside one live allocation of its device. */
    void check(DeviceTensor tensor) {
        long bytes = tensor.byteCount();
        Map.Entry<Long, HeapBlock> found = byAddress.floorEntry(tensor.address());
        boolean inside = found != null
                && found.getValue().device == tensor.device()
                && tensor.address() + bytes <= found.getKey() + found.getValue().bytes;
        if (!inside) {
            throw new IllegalArgumentException(tensor + " at 0x" + Long.toHexString(tensor.address()) + " with " + bytes
                    + " bytes is not in allocated memory of its device: it was freed, or was not allocated " + "here");
        }
    }

    /** Copies a tensor into a buffer, from the position to the limit of the buffer. */
    void read(DeviceTensor from, ByteBuffer into) {
        walk(from.address(), into, false);
    }

    /** Copies a buffer, from its position to its limit, into a tensor. */
    void write(ByteBuffer from, DeviceTensor into) {
        walk(into.address(), from, true);
    }

    private void walk(long address, ByteBuffer bytes, boolean writes) {
        if (!bytes.hasRemaining()) {
            return;
        }
        Map.Entry<Long, HeapBlock> found = byAddress.floorEntry(address);
        if (found == null) {
            throw new IllegalStateException(
                    "memory at 0x" + Long.toHexString(address) + " was freed before its copy had run");
        }
        long at = address - found.getKey();
        for (int done = 0, all = bytes.remaining(), start = bytes.position(); done < all; ) {
            int inPage = (int) (at % PAGE_BYTES);
            int length = Math.min(all - done, PAGE_BYTES - inPage);
            Map<Long, byte[]> pages = found.getValue().pages;
            if (!writes) {
                bytes.put(start + done, pages.getOrDefault(at / PAGE_BYTES, BlankPage.PAGE), inPage, length);
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

    /**
     * Returns whether a write would leave an unwritten page unchanged. A write that leaves the page unchanged needs no
     * memory.
     */
    private static boolean isBlank(ByteBuffer bytes, int start, int length) {
        return bytes.slice(start, length).mismatch(ByteBuffer.wrap(BlankPage.PAGE, 0, length)) < 0;
    }

    /** Creates a page. The last page of a block ends with the block, because most blocks have only a few elements. */
    private static byte[] page(HeapBlock block, long number) {
        return Arrays.copyOf(BlankPage.PAGE, (int) Math.min(PAGE_BYTES, block.bytes - number * PAGE_BYTES));
    }

    /** The content of pages that were never written. No code changes this content. */
    private static final class BlankPage {
        private static final byte[] PAGE = new byte[PAGE_BYTES];

        static {
            Arrays.fill(PAGE, UNWRITTEN);
        }
    }
}
