package ferro.collectives.shared;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.Elements;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntConsumer;

/**
 * Runs the programs of one rank, one at a time: as many steps as can be done now. Nothing here waits, and nothing is allocated
 * once it is warm. Belongs to whoever drives.
 */
public final class SharedMachine {
    private final int rank;
    private final int worldSize;
    private final AreaLayout layout;
    private final ByteBuffer[] areas;
    private final ByteBuffer own;
    private final AreaElements[] elements;
    private final Transport.Events events;
    private final IntConsumer wake;
    private final KeptKernels kernels = new KeptKernels();
    /** First byte of the slot of chunk i mod SLOTS of the operation under way, or of the next. */
    private final int[] slots = new int[AreaLayout.SLOTS];

    private Program program;
    private CallHeader call;
    private DataType type;
    private int unit;
    private ReduceOp kernelOp;
    private DataType kernelType;
    private Kernel kernel;
    private final Side in = new Side();
    private final Side out = new Side();
    private int next;
    /** How many of those that the next step waits for have come, counted from the rank behind this one, and one. */
    private int come = 1;

    /** The operation that this rank has entered the direct way. */
    private long shown;

    private boolean mismatched;
    /** Of the operations that are finished: how many, number of the last, chunks and values of flags of all. */
    private long operationsBefore;

    private long sequenceBefore;
    private CallHeader.Call callBefore;
    private long chunksBefore;
    private long valuesBefore;

    /** Operand or result: where its elements lie. */
    private static final class Side {
        private Object memory;
        private long start;
        private int unit;

        void of(HostTensor tensor) {
            if (tensor == null) {
                memory = null;
                return;
            }
            memory = tensor.memory();
            start = tensor.offset();
            unit = memory instanceof ByteBuffer ? tensor.dataType().byteSize() : 1;
        }

        long place(long element) {
            return start + element * unit;
        }
    }

    /**
     * Where a machine works.
     *
     * @param rank   this rank
     * @param layout of each area
     * @param areas  of all ranks, zero where the layout has anything
     * @param events hears of ranks that are in another call
     * @param wake   wakes a rank that may sleep, after something was told to it
     */
    public record Place(int rank, AreaLayout layout, ByteBuffer[] areas, Transport.Events events, IntConsumer wake) {}

    /**
     * Makes a machine for areas that no other of this rank has worked in.
     *
     * @param place where
     */
    public SharedMachine(Place place) {
        this.rank = place.rank;
        this.layout = place.layout;
        this.areas = place.areas.clone();
        this.own = areas[rank];
        this.worldSize = areas.length;
        this.events = place.events;
        this.wake = place.wake;
        this.elements = new AreaElements[worldSize];
        for (int i = 0; i < worldSize; i++) {
            elements[i] = new AreaElements(areas[i]);
        }
        placeSlots();
    }

    /**
     * Begins an operation; the one before must be finished.
     *
     * @param work    what to do
     * @param header  what every rank must agree on; numbers go up
     * @param operand or null
     * @param result  or null
     * @param how     how to combine, or null
     */
    public void begin(Program work, CallHeader header, HostTensor operand, HostTensor result, ReduceOp how) {
        HostTensor tensor = operand == null ? result : operand;
        type = tensor == null ? null : tensor.dataType();
        unit = type == null ? 1 : type.byteSize();
        if (how != null) {
            use(type, how);
        }
        in.of(operand);
        out.of(result);
        program = work;
        call = header;
        // others may be further since they were shown that this rank has entered: their headers before are gone
        next = shown == header.sequence() ? work.entered + 1 : 0;
        come = 1;
    }

    private void use(DataType elementType, ReduceOp how) {
        if (how != kernelOp || elementType != kernelType) {
            kernel = kernels.of(elementType, how);
            kernelOp = how;
            kernelType = elementType;
        }
    }

    /**
     * The direct way, first half: does all up to where this rank has entered. The same
     * operation may be begun after it.
     *
     * @param work     what to do
     * @param sequence number of the operation
     * @param common   what every rank must agree on
     * @param operand  or null
     * @param how      how to combine, or null
     * @return false if this program has no direct way, or something must be waited for: then nothing was done
     */
    public boolean show(Program work, long sequence, CallHeader.Call common, HostTensor operand, ReduceOp how) {
        if (!work.isDirect || mismatched || !allBegan()) {
            come = 1;
            return false;
        }
        come = 1;
        if (how != null) {
            use(operand.dataType(), how);
        }
        for (int step = 1; work.kind[step] == Program.COPY_IN; step++) {
            DataType elementType = operand.dataType();
            long from = Elements.at(operand, work.in[step]);
            elements[rank].write(elementType, at(work, step), operand.memory(), from, work.count[step]);
        }
        enter(sequence, common.fingerprint());
        shown = sequence;
        return true;
    }

    /**
     * The direct way, second half: does the rest, if all that it needs of others is there.
     *
     * @param work     what to do, as shown
     * @param sequence number of the operation
     * @param common   what every rank must agree on
     * @param operand  or null
     * @param result   or null
     * @return false if something is not there, or not right: then nothing was done
     */
    public boolean take(Program work, long sequence, CallHeader.Call common, HostTensor operand, HostTensor result) {
        for (int step = 0; step < work.size; step++) {
            if (work.kind[step] == Program.AWAIT_ENTERED && !isThere(work.peer[step], sequence, common.fingerprint())) {
                return false;
            }
        }
        in.of(operand);
        out.of(result);
        if (result != null) {
            type = result.dataType();
        }
        for (int step = 0; step < work.size; step++) {
            if (work.kind[step] > Program.COPY_IN) {
                move(work, step);
            }
        }
        finished(work, sequence, common);
        return true;
    }

    private boolean isThere(int peer, long sequence, long fingerprint) {
        ByteBuffer area = areas[peer];
        return Words.acquire(area, AreaLayout.header(parity())) == sequence
                && area.getLong(AreaLayout.fingerprint(parity())) == fingerprint;
    }

    /** Returns whether a rank is in an operation; a rank that has come to another one in its place is told of. */
    private boolean isIn(int peer, int parity, long sequence, long fingerprint) {
        ByteBuffer area = areas[peer];
        long found = Words.acquire(area, AreaLayout.header(parity));
        if (found == sequence && area.getLong(AreaLayout.fingerprint(parity)) == fingerprint) {
            return true;
        }
        if (found >= sequence && !mismatched) {
            mismatched = true;
            tellMismatched(peer, parity, sequence, found);
        }
        return false;
    }

    private void tellMismatched(int peer, int parity, long sequence, long found) {
        CallHeader expected = parity == parity() ? call : CallHeader.of(sequence, callBefore);
        long fingerprint = areas[peer].getLong(AreaLayout.fingerprint(parity));
        events.mismatched(peer, expected, CallHeader.of(expected.group(), found, fingerprint, ""));
    }

    /**
     * Returns whether the operation is finished.
     *
     * @return true once all steps are done
     */
    public boolean isFinished() {
        return next == program.size;
    }

    /**
     * Does what can be done now.
     *
     * @return whether any step was done
     */
    public boolean advance() {
        Program work = program;
        int first = next;
        int step = first;
        while (step < work.size && done(work, step)) {
            step++;
            next = step;
            come = 1;
        }
        if (step == work.size && first != step) {
            finished(work, call.sequence(), call.call());
        }
        return step != first;
    }

    private void finished(Program work, long sequence, CallHeader.Call common) {
        operationsBefore++;
        callBefore = common;
        sequenceBefore = sequence;
        valuesBefore += work.values;
        if (work.chunks > 0) {
            chunksBefore += work.chunks;
            placeSlots();
        }
    }

    private void placeSlots() {
        for (int i = 0; i < AreaLayout.SLOTS; i++) {
            slots[i] = layout.slot((int) ((chunksBefore + i) % AreaLayout.SLOTS));
        }
    }

    private boolean done(Program work, int step) {
        switch (work.kind[step]) {
            case Program.GATE:
                return allBegan();
            case Program.ENTER:
                enter(call.sequence(), call.fingerprint());
                return true;
            case Program.AWAIT_ENTERED:
                return entered(work.peer[step]);
            case Program.AWAIT_ALL_ENTERED:
                return allEntered();
            case Program.PUBLISH:
                Words.release(own, AreaLayout.flag(), valuesBefore + work.value[step]);
                wakeAll();
                return true;
            case Program.AWAIT:
                return reached(work.peer[step], work.value[step]);
            case Program.AWAIT_ALL:
                return allReached(work.value[step]);
            default:
                move(work, step);
                return true;
        }
    }

    private void move(Program work, int step) {
        int peer = work.peer[step];
        int count = work.count[step];
        switch (work.kind[step]) {
            case Program.COPY_IN:
                elements[rank].write(type, at(work, step), in.memory, in.place(work.in[step]), count);
                break;
            case Program.COPY_OUT:
                elements[peer].read(type, at(work, step), out.memory, out.place(work.out[step]), count);
                break;
            case Program.COPY:
                copy(in.place(work.in[step]), out.place(work.out[step]), count);
                break;
            case Program.COMBINE:
                kernel.combine(out.memory, out.place(work.out[step]), areas[peer], at(work, step), count);
                break;
            case Program.COMBINE_BOTH:
                kernel.combineBoth(out.memory, out.place(work.out[step]), areas[peer], at(work, step), count);
                break;
            default:
                int at = at(work, step);
                kernel.combine(own, at, areas[peer], at, count);
        }
    }

    private void copy(long from, long to, int count) {
        if (in.memory != out.memory || from != to) {
            Elements.copy(type, out.memory, to, in.memory, from, count);
        }
    }

    /** Returns the byte of an area that a step begins with. */
    private int at(Program work, int step) {
        int chunk = work.chunk[step];
        int start = chunk == Program.LINE ? AreaLayout.payload(parity()) : slots[chunk % AreaLayout.SLOTS];
        return start + work.at[step];
    }

    private int parity() {
        return (int) operationsBefore & 1;
    }

    /** Returns whether all ranks have entered the operation before, which must be the same for all. */
    private boolean allBegan() {
        while (callBefore != null && come < worldSize) {
            int peer = behind(come);
            if (!isIn(peer, parity() ^ 1, sequenceBefore, callBefore.fingerprint())) {
                return false;
            }
            come++;
        }
        return true;
    }

    private void enter(long sequence, long fingerprint) {
        int parity = parity();
        own.putLong(AreaLayout.fingerprint(parity), fingerprint);
        Words.release(own, AreaLayout.header(parity), sequence);
        wakeAll();
    }

    private boolean allEntered() {
        while (come < worldSize) {
            if (!entered(behind(come))) {
                return false;
            }
            come++;
        }
        return true;
    }

    /** Returns whether a rank is in this call too; the peer cannot be further than in the next one. */
    private boolean entered(int peer) {
        return isIn(peer, parity(), call.sequence(), call.fingerprint());
    }

    private boolean reached(int peer, int value) {
        return Words.acquire(areas[peer], AreaLayout.flag()) >= valuesBefore + value;
    }

    private boolean allReached(int value) {
        while (come < worldSize) {
            if (!reached(behind(come), value)) {
                return false;
            }
            come++;
        }
        return true;
    }

    private int behind(int places) {
        int peer = rank + places;
        return peer < worldSize ? peer : peer - worldSize;
    }

    private void wakeAll() {
        for (int peer = 0; peer < worldSize; peer++) {
            if (peer != rank) {
                wake.accept(peer);
            }
        }
    }

    /**
     * Returns the ranks that the next step waits for.
     *
     * @return ranks; none if it waits for none
     */
    public BitSet waitingFor() {
        BitSet peers = new BitSet();
        if (isFinished()) {
            return peers;
        }
        for (int peer = 0; peer < worldSize; peer++) {
            if (peer != rank && isAwaited(peer)) {
                peers.set(peer);
            }
        }
        return peers;
    }

    private boolean isAwaited(int peer) {
        int own = program.peer[next];
        long entered = Words.acquire(areas[peer], AreaLayout.header(parity()));
        return switch (program.kind[next]) {
            case Program.GATE -> Words.acquire(areas[peer], AreaLayout.header(parity() ^ 1)) < sequenceBefore;
            case Program.AWAIT_ENTERED -> peer == own && entered < call.sequence();
            case Program.AWAIT_ALL_ENTERED -> entered < call.sequence();
            case Program.AWAIT -> peer == own && !reached(peer, program.value[next]);
            case Program.AWAIT_ALL -> !reached(peer, program.value[next]);
            default -> false;
        };
    }

    /**
     * Returns the step that is next.
     *
     * @return steps done
     */
    public int step() {
        return next;
    }

    /**
     * Returns the bytes that this rank has written for others and read of theirs in the operation under way.
     *
     * @return bytes
     */
    public long bytesMoved() {
        return program.moved(next) * unit;
    }

    /**
     * Says how far it is.
     *
     * @return for example {@code step 3 of 14, 65536 of 262144 bytes received}
     */
    public String progress() {
        return "step " + next + " of " + program.size + ", " + program.received(next) * unit + " of "
                + program.received(program.size) * unit + " bytes received";
    }
}
