package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Calls whose operand and result overlap in a form that cannot work in place. The calls cover every collective that has
 * an overlap that cannot work in place. For a rooted collective, each rank makes the call of the root.
 */
public final class OverlappingCalls {
    private final Operand memory;
    private final int rank;
    private final int size;
    private final int part;
    private final List<NamedCall> calls = new ArrayList<>();

    /** A call with a name for messages that describes the overlap of its tensors. */
    public record NamedCall(String name, Collective call) {}

    private OverlappingCalls(Operand memory, int rank, int size, int part) {
        this.memory = memory;
        this.rank = rank;
        this.size = size;
        this.part = part;
    }

    /**
     * Returns how many elements the calls need for parts of {@code part} elements. A part must have at least two
     * elements.
     */
    public static int length(int size, int part) {
        return 3 * size * part;
    }

    /**
     * Returns the calls, whose tensors are slices of memory of {@link #length} elements. If {@code cutsElements} is
     * true, a tensor may also begin inside an element.
     */
    public static List<NamedCall> of(Operand memory, ProcessGroup group, int part, boolean cutsElements) {
        OverlappingCalls made = new OverlappingCalls(memory, group.rank(), group.worldSize(), part);
        for (int shift : IntStream.of(1, -1, part - 1, 1 - part).distinct().toArray()) {
            made.shifted(shift);
        }
        made.inOthersParts();
        made.fullTensors();
        made.unequalParts();
        if (cutsElements) {
            made.insideElements();
        }
        return made.calls;
    }

    private HostTensor full(int shift) {
        // starts after one full length, so that a shift to the front stays inside the memory
        return memory.cut((long) size * part + shift, (long) size * part);
    }

    private HostTensor own(int shift) {
        return memory.cut((long) (size + rank) * part + shift, part);
    }

    private void add(String how, Collective call) {
        calls.add(new NamedCall(call.kind() + " on rank " + rank + ", parts of " + part + ", " + how, call));
    }

    private void shifted(int shift) {
        String how = "shifted by " + shift;
        add(how, Collective.allReduce(full(0), full(shift), ReduceOp.SUM));
        add(how, Collective.reduce(full(0), full(shift), ReduceOp.SUM, rank));
        add(how, Collective.allToAll(full(0), full(shift)));
        parts(how, own(shift), full(0));
    }

    private void parts(String how, HostTensor own, HostTensor full, long... counts) {
        for (CollectiveKind kind :
                CallFactory.kinds(each -> each.in() == DataShare.PART || each.out() == DataShare.PART)) {
            boolean gathers = kind.in() == DataShare.PART;
            add(how, CallFactory.of(kind, gathers ? own : full, gathers ? full : own, ReduceOp.SUM, rank, counts));
        }
    }

    private void inOthersParts() {
        for (int other = 0; other < size; other++) {
            if (other != rank) {
                parts("in the part of rank " + other, memory.cut((long) (size + other) * part, part), full(0));
            }
        }
    }

    private void fullTensors() {
        add("into itself", Collective.allToAll(full(0), full(0)));
        HostTensor one = full(0);
        add("into itself, one tensor", Collective.allToAll(one, one));
        add("shifted by half", Collective.allToAll(full(0), full(size * part / 2)));
    }

    /**
     * Adds calls with unequal parts, in which the part of this rank has a wrong offset. The offset is wrong by one
     * element, or is the offset for equal parts.
     */
    private void unequalParts() {
        long[] counts = IntStream.range(0, size)
                .mapToLong(position -> Cell.unequal(position, part))
                .toArray();
        long start = (long) size * part;
        long before = LongStream.of(counts).limit(rank).sum();
        long total = LongStream.of(counts).sum();
        HostTensor full = memory.cut(start, total);
        for (long at : LongStream.of(before + 1, before - 1, (long) rank * part)
                .distinct()
                .toArray()) {
            if (at == before || counts[rank] < 2) {
                continue;
            }
            String how = "in unequal parts, at " + at + " instead of " + before;
            parts(how, memory.cut(start + at, counts[rank]), full, counts);
        }
        add("in unequal parts", Collective.allToAll(full, memory.cut(start + 1, total), counts, counts));
        add("in unequal parts, into itself", Collective.allToAll(full, memory.cut(start, total), counts, counts));
    }

    private void insideElements() {
        HostTensor longer = memory.cut((long) size * part, (long) size * part + 1);
        int bytes = size * part * DataType.INT32.byteSize();
        ByteBuffer cut = longer.buffer().slice(1, bytes).order(ByteOrder.nativeOrder());
        add("one byte off", Collective.allReduce(full(0), HostTensor.of(DataType.INT32, cut), ReduceOp.SUM));
    }
}
