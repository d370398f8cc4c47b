package ferro.collectives.engine.operands;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Records which memory some calls read and write; finds a call that overlaps what another call writes. */
public final class TouchedMemory {
    private final Map<Object, Spans> byMemory = new IdentityHashMap<>();

    /** Maps starts to ends; no span overlaps another one of the same map. */
    private static final class Spans {
        private final TreeMap<Long, Long> written = new TreeMap<>();
        private final TreeMap<Long, Long> read = new TreeMap<>();
    }

    /**
     * Adds a call.
     *
     * @param in  what it reads
     * @param out what it writes: the same elements as {@code in}, or none of them
     * @return false if it writes what another one reads or writes, or reads what another one writes
     */
    public boolean add(HostTensor in, HostTensor out) {
        boolean isInPlace = TensorMemory.memoryKey(in) == TensorMemory.memoryKey(out)
                && TensorMemory.memoryOffset(in) == TensorMemory.memoryOffset(out);
        return (isInPlace || addRead(in)) && addWritten(out);
    }

    private boolean addRead(HostTensor in) {
        if (in.elementCount() == 0) {
            return true;
        }
        Spans spans = spansOf(in);
        long start = TensorMemory.memoryOffset(in);
        long end = end(in);
        if (touches(spans.written, start, end)) {
            return false;
        }
        // several calls may read the same elements: their spans become one
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
        Spans spans = spansOf(out);
        long start = TensorMemory.memoryOffset(out);
        long end = end(out);
        if (touches(spans.written, start, end) || touches(spans.read, start, end)) {
            return false;
        }
        spans.written.put(start, end);
        return true;
    }

    private Spans spansOf(HostTensor tensor) {
        return byMemory.computeIfAbsent(TensorMemory.memoryKey(tensor), memory -> new Spans());
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
}
