package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The memory that several calls read and write. {@link #add} finds a call whose memory overlaps memory that another
 * call writes. {@link #mayAlias} checks whether two tensors may overlap, because operations on overlapping tensors have
 * to keep their order.
 */
public final class AccessedRanges {
    /**
     * Modulus of buffer addresses, because {@link ByteBuffer#alignmentOffset} gives addresses only modulo a power of
     * two. Even with this power, the largest possible one, two buffers that are a whole GiB apart sometimes seem to
     * overlap.
     */
    private static final int ADDRESSES = 1 << 30;

    private final Map<Object, AddressRanges> byMemory = new IdentityHashMap<>();

    /** Address ranges within one memory, as maps from start to end. The ranges in one map do not overlap. */
    private static final class AddressRanges {
        private final TreeMap<Long, Long> written = new TreeMap<>();
        private final TreeMap<Long, Long> read = new TreeMap<>();
    }

    /**
     * Adds a call that reads {@code in} and writes {@code out}, which are the same elements or do not overlap. Returns
     * false if the call writes elements that another call reads or writes, or if the call reads elements that another
     * call writes.
     */
    boolean add(HostTensor in, HostTensor out) {
        boolean isInPlace = TensorMemory.memoryKey(in) == TensorMemory.memoryKey(out)
                && TensorMemory.memoryOffset(in) == TensorMemory.memoryOffset(out);
        return (isInPlace || addRead(in)) && addWritten(out);
    }

    private boolean addRead(HostTensor in) {
        if (in.elementCount() == 0) {
            return true;
        }
        AddressRanges spans = spansOf(in);
        long start = TensorMemory.memoryOffset(in);
        long end = end(in);
        if (touches(spans.written, start, end)) {
            return false;
        }
        // several calls may read the same elements, so overlapping spans become one span
        for (Map.Entry<Long, Long> other = spans.read.lowerEntry(end);
                other != null && other.getValue() > start;
                other = spans.read.lowerEntry(end)) {
            start = Math.min(start, other.getKey());
            end = Math.max(end, other.getValue());
            spans.read.remove(other.getKey());
        }
        spans.read.put(start, end);
        return true;
    }

    private boolean addWritten(HostTensor out) {
        if (out.elementCount() == 0) {
            return true;
        }
        AddressRanges spans = spansOf(out);
        long start = TensorMemory.memoryOffset(out);
        long end = end(out);
        if (touches(spans.written, start, end) || touches(spans.read, start, end)) {
            return false;
        }
        spans.written.put(start, end);
        return true;
    }

    private AddressRanges spansOf(HostTensor tensor) {
        return byMemory.computeIfAbsent(TensorMemory.memoryKey(tensor), memory -> new AddressRanges());
    }

    /** Returns the end of a tensor in the unit of its offset: in bytes for a buffer, in elements for an array. */
    private static long end(HostTensor tensor) {
        long unit = tensor.isDirect() ? tensor.dataType().byteSize() : 1;
        return TensorMemory.memoryOffset(tensor) + unit * tensor.elementCount();
    }

    private static boolean touches(TreeMap<Long, Long> spans, long start, long end) {
        Map.Entry<Long, Long> last = spans.lowerEntry(end);
        return last != null && last.getValue() > start;
    }

    /** Returns whether two tensors overlap in one array or buffer. Different buffers are not compared. */
    public static boolean alias(HostTensor one, HostTensor other) {
        if (TensorMemory.memoryKey(one) != TensorMemory.memoryKey(other)
                || one.elementCount() == 0
                || other.elementCount() == 0) {
            return false;
        }
        return TensorMemory.memoryOffset(one) < end(other) && TensorMemory.memoryOffset(other) < end(one);
    }

    /**
     * Returns false only if two tensors, which may be null, share no byte. May return true for tensors that share no
     * byte.
     */
    static boolean mayAlias(HostTensor one, HostTensor other) {
        if (one == null || other == null || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        if (TensorMemory.memoryKey(one) == TensorMemory.memoryKey(other)) {
            return alias(one, other);
        }
        return one.isDirect()
                && other.isDirect()
                && mayAlias(address(one), one.byteCount(), address(other), other.byteCount());
    }

    private static int address(HostTensor tensor) {
        return ((ByteBuffer) TensorMemory.memoryAt(tensor, 0))
                .alignmentOffset((int) TensorMemory.offsetAt(tensor, 0), ADDRESSES);
    }

    private static boolean mayAlias(int address, long bytes, int otherAddress, long otherBytes) {
        return ((otherAddress - address) & ADDRESSES - 1) < bytes
                || ((address - otherAddress) & ADDRESSES - 1) < otherBytes;
    }
}
