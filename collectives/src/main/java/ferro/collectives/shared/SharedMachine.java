package ferro.collectives.shared;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.StagedElements;
import ferro.collectives.reduce.Elements;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntConsumer;

/**
 * Runs the programs of one rank, one at a time: as many steps as can be done now. Nothing here waits, and nothing is
 * allocated once it is warm. Belongs to whoever drives.
 */
public class SharedMachine {
    /** What {@link #take} returns if an operation cannot end now. */
    public static final int NOT_THERE = -1;

    /** What ends within so many looks ends well below a microsecond after it began. */
    public static final int LOOKS_IN_NO_TIME = 100;

    private static final int NOT_ASKED = -1;

    private final int rank;
    private final int worldSize;
    private final AreaLayout layout;
    private final int looksMost;
    private final ByteBuffer[] areas;
    private final StagedElements[] elements;
    private final SharedStanding standing;
    private final SharedTensors tensors;
    private final KeptKernels kernels = new KeptKernels();
    /** First byte of the slot of chunk i mod SLOTS of the operation under way, or of the next. */
    private final int[] slots = new int[AreaLayout.SLOTS];
    /** Of the operation under way, where all ranks' tensors lie in shared memory: which, and from which byte. */
    private final ByteBuffer[] tensorAreas;

    private final int[] tensorStarts;
    private final Side in = new Side();
    private final Side out = new Side();
    private Program program;
    private CallHeader call;
    private DataType type;
    private ReduceOp kernelOp;
    private DataType kernelType;
    private Kernel kernel;
    private int next;
    /** Which shared memory the operation under way may work in; 0 for none, or that nobody asks. */
    private int tensor;
    /** The operation that this rank has entered the direct way. */
    private long shown;

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
     * @param looks  how often the direct way looks for others at most
     */
    public record Place(
            int rank, AreaLayout layout, ByteBuffer[] areas, Transport.Events events, IntConsumer wake, int looks) {}

    /**
     * Makes a machine for areas that no other of this rank has worked in.
     *
     * @param place where
     */
    public SharedMachine(Place place) {
        this.rank = place.rank;
        this.layout = place.layout;
        this.looksMost = place.looks;
        this.areas = place.areas.clone();
        this.worldSize = areas.length;
        this.standing = new SharedStanding(place);
        this.tensors = new SharedTensors(rank);
        this.tensorAreas = new ByteBuffer[worldSize];
        this.tensorStarts = new int[worldSize];
        this.elements = new StagedElements[worldSize];
        for (int i = 0; i < worldSize; i++) {
            elements[i] = new StagedElements(areas[i]);
        }
        placeSlots();
    }

    /**
     * Returns where tensors in shared memory are made known.
     *
     * @return list, for whoever drives
     */
    public SharedTensors tensors() {
        return tensors;
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
        use(operand, result, how);
        call = header;
        standing.waitAnew();
        // others may be further since they were shown that this rank has entered: their headers before are gone
        next = shown == header.sequence() ? work.entered + 1 : 0;
        tensor = work.inTensors == null ? NOT_ASKED : tensors.number(operand, result);
        program = tensor > 0 ? work.inTensors : work;
    }

    /** Lets go of the memory of the operation that was begun last and is finished. */
    public void forget() {
        in.of(null);
        out.of(null);
    }

    private void use(HostTensor operand, HostTensor result, ReduceOp how) {
        in.of(operand);
        out.of(result);
        HostTensor either = operand == null ? result : operand;
        type = either == null ? null : either.dataType();
        if (how != null && (how != kernelOp || type != kernelType)) {
            kernel = kernels.of(type, how);
            kernelOp = how;
            kernelType = type;
        }
    }

    /**
     * The direct way, first half: does all up to where this rank has entered. The same operation may be begun after it.
     *
     * @param work     what to do
     * @param sequence number of the operation
     * @param common   what every rank must agree on
     * @param operand  or null
     * @return false if this program has no direct way, or something must be waited for: then nothing was done
     */
    public boolean show(Program work, long sequence, CallHeader.Call common, HostTensor operand) {
        standing.waitAnew();
        if (!work.isDirect || standing.isMismatched() || !standing.allBegan()) {
            return false;
        }
        for (int step = 1; step < work.entered; step++) {
            long from = Elements.at(operand, work.in[step]);
            elements[rank].write(operand.dataType(), at(work, step), operand.memory(), from, work.count[step]);
        }
        standing.enter(sequence, common);
        shown = sequence;
        return true;
    }

    /**
     * The direct way, second half: looks whether all is there that the operation that was shown needs of others, and right, for as
     * long as a spin lasts; if so, does the rest.
     *
     * @param work    what to do, as shown
     * @param common  what every rank must agree on
     * @param operand or null
     * @param result  or null
     * @param how     how to combine, or null
     * @return how often it looked in vain; {@link #NOT_THERE} if it is not there, or not right: then both are as they were
     */
    public int take(Program work, CallHeader.Call common, HostTensor operand, HostTensor result, ReduceOp how) {
        int looks = 0;
        while (!isThere(work, common)) {
            if (++looks >= looksMost) {
                return NOT_THERE;
            }
            if (looks > LOOKS_IN_NO_TIME) {
                Thread.onSpinWait();
            }
        }
        use(operand, result, how);
        for (int step = work.entered + 1; step < work.size; step++) {
            if (work.kind[step] > Program.COPY_IN) {
                move(work, step);
            }
        }
        finished(work, shown, common);
        return looks;
    }

    /** Returns whether all is there that the operation that was shown needs of others, and right. */
    private boolean isThere(Program work, CallHeader.Call common) {
        for (int step = work.entered + 1; step < work.size; step++) {
            if (work.kind[step] == Program.AWAIT_ENTERED && !standing.isThere(work.peer[step], shown, common)) {
                return false;
            }
        }
        return true;
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
        int first = next;
        int step = first;
        while (step < program.size) {
            if (program.kind[step] >= Program.COPY_IN) {
                move(program, step);
            } else if (!isDone(program, step)) {
                break;
            }
            step++;
            next = step;
            standing.waitAnew();
        }
        if (step == program.size && first != step) {
            finished(program, call.sequence(), call.call());
        }
        return step != first;
    }

    private void finished(Program work, long sequence, CallHeader.Call common) {
        standing.finished(work, sequence, common);
        if (work.chunks > 0) {
            placeSlots();
        }
    }

    private void placeSlots() {
        for (int i = 0; i < AreaLayout.SLOTS; i++) {
            slots[i] = layout.slot((int) ((standing.chunks() + i) % AreaLayout.SLOTS));
        }
    }

    /** Takes a step that moves no elements; returns false if it waits for other ranks. */
    private boolean isDone(Program work, int step) {
        switch (work.kind[step]) {
            case Program.GATE:
                return standing.allBegan();
            case Program.ENTER:
                if (tensor != NOT_ASKED) {
                    standing.tensorIn(tensor, in.start);
                }
                standing.enter(call.sequence(), call.call());
                return true;
            case Program.AWAIT_ENTERED:
                return standing.hasEntered(work.peer[step], call);
            case Program.AWAIT_ALL_ENTERED:
                return standing.allEntered(call);
            case Program.CHOOSE:
                return hasChosen();
            case Program.AWAIT_ALL_STAGED:
                return standing.allStaged(call, work.value[step]);
            case Program.PUBLISH:
                standing.publish(work.value[step]);
                return true;
            case Program.AWAIT:
                return standing.hasReached(work.peer[step], work.value[step]);
            default:
                return standing.allReached(work.value[step]);
        }
    }

    /** Goes on in shared tensors if all ranks can, which all find out alike. */
    private boolean hasChosen() {
        if (!standing.allEntered(call)) {
            return false;
        }
        for (int peer = 0; peer < worldSize; peer++) {
            long number = standing.tensor(peer);
            if (number == 0) {
                program = program.late;
                return true;
            }
            tensorAreas[peer] = tensors.area(number, peer);
            tensorStarts[peer] = (int) standing.tensorStart(peer);
        }
        return true;
    }

    private void move(Program work, int step) {
        int count = work.count[step];
        int at = at(work, step);
        switch (work.kind[step]) {
            case Program.COPY_IN:
                elements[rank].write(type, at, in.memory, in.place(work.in[step]), count);
                break;
            case Program.COPY_OUT:
                elements[work.peer[step]].read(type, at, out.memory, out.place(work.out[step]), count);
                break;
            case Program.COPY:
                copy(in.place(work.in[step]), out.place(work.out[step]), count);
                break;
            case Program.COPY_OVER:
                Elements.copy(type, area(work, step), at, out.memory, out.place(work.out[step]), count);
                break;
            case Program.COMBINE:
                kernel.combine(out.memory, out.place(work.out[step]), area(work, step), at, count);
                break;
            case Program.COMBINE_BOTH:
                kernel.combineBoth(out.memory, out.place(work.out[step]), area(work, step), at, count);
                break;
            default:
                kernel.combine(areas[rank], at, areas[work.peer[step]], at, count);
        }
    }

    private void copy(long from, long to, int count) {
        if (in.memory != out.memory || from != to) {
            Elements.copy(type, out.memory, to, in.memory, from, count);
        }
    }

    private ByteBuffer area(Program work, int step) {
        int peer = work.peer[step];
        return work.chunk[step] == Program.TENSOR ? tensorAreas[peer] : areas[peer];
    }

    /** Returns the byte of an area that a step begins with. */
    private int at(Program work, int step) {
        int chunk = work.chunk[step];
        if (chunk >= 0) {
            return slots[chunk % AreaLayout.SLOTS] + work.at[step];
        }
        int start = chunk == Program.LINE ? AreaLayout.payload(standing.parity()) : tensorStarts[work.peer[step]];
        return start + work.at[step];
    }

    /**
     * Returns the ranks that the next step waits for.
     *
     * @return ranks; none if it waits for none
     */
    public BitSet waitingFor() {
        BitSet peers = new BitSet();
        for (int peer = 0; peer < worldSize && !isFinished(); peer++) {
            peers.set(peer, peer != rank && standing.isAwaited(peer, program, next, call));
        }
        return peers;
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
        return program.moved(next) * unit();
    }

    /**
     * Says how far it is.
     *
     * @return for example {@code step 3 of 14, 65536 of 262144 bytes received}
     */
    public String progress() {
        return "step " + next + " of " + program.size + ", " + program.received(next) * unit() + " of "
                + program.received(program.size) * unit() + " bytes received";
    }

    private int unit() {
        return type == null ? 1 : type.byteSize();
    }
}
