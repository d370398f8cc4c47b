package ferro.collectives.shared;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.TensorMemory;
import ferro.collectives.reduce.ElementCopier;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.KernelCache;
import ferro.collectives.reduce.PreMulOperands;
import ferro.collectives.reduce.TypedViews;
import ferro.spi.CallHeader;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntConsumer;

/**
 * An interpreter that runs the programs of one rank, one at a time. Each call does all steps that are possible now. No
 * method waits for other ranks longer than a spin, and after the first operations nothing is allocated. Only the thread
 * that makes progress uses a machine.
 */
public class SharedMemoryInterpreter {
    /** Result of {@link #consume} if an operation cannot end yet. */
    public static final int NOT_THERE = -1;

    /**
     * Number of polls without a hint to the processor that this thread waits. The polls without a hint take less than a
     * microsecond.
     */
    public static final int LOOKS_WITHOUT_HINT = 100;

    private final int rank;
    private final int worldSize;
    private final SegmentLayout layout;
    private final SharedMemory memory;
    /** Number of bytes of each slot of this rank that are reserved. */
    private int reserved;

    private final int looksMost;
    private final ByteBuffer[] areas;
    private final TypedViews[] elements;
    private final SharedProgress standing;
    private final SharedTensors tensors;
    private final SharedOperands operands;
    private final OperationKernels kernels;
    /** First byte of the slot of chunk i mod SLOTS, for the current operation or for the next operation. */
    private final int[] slots = new int[SegmentLayout.SLOTS];

    private final ElementCopier copies = new ElementCopier();
    /** Operand and result of this rank in the current operation, or null. */
    private HostTensor in;

    private HostTensor out;
    private SharedMemoryProgram program;
    private CallHeader call;
    private DataType type;

    private int next;
    /** Number of the operation that this rank has entered on the fast path. */
    private long shown;
    /** The step from which the operation continues if it does not end on the fast path. */
    private int resumed;
    /** Whether the current operation must not end although its steps are done, see {@link #hasLostOperands}. */
    private boolean lostOperands;

    /**
     * Makes a machine for segments that no other machine of this rank has worked in.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param layout    layout of each segment
     * @param memory    segments of all ranks; all bytes that the layout uses are zero
     * @param events    receives an event for a rank that is in another call
     * @param wake      wakes a rank that may sleep, after something was published for the rank
     * @param looks     maximum number of polls of the fast path
     */
    public SharedMemoryInterpreter(
            int rank,
            int worldSize,
            SegmentLayout layout,
            SharedMemory memory,
            Transport.Events events,
            IntConsumer wake,
            int looks) {
        this.rank = rank;
        this.worldSize = worldSize;
        this.layout = layout;
        this.memory = memory;
        this.looksMost = looks;
        this.areas = new ByteBuffer[worldSize];
        this.elements = new TypedViews[worldSize];
        for (int i = 0; i < worldSize; i++) {
            areas[i] = memory.area(i);
            elements[i] = new TypedViews(areas[i]);
        }
        this.kernels = new OperationKernels(worldSize);
        this.standing = new SharedProgress(rank, areas, events, wake);
        this.tensors = new SharedTensors();
        this.operands = new SharedOperands(worldSize, standing, tensors);
        moveOn();
    }

    /** {@return the list of tensors in shared memory, for the thread that makes progress} */
    public SharedTensors tensors() {
        return tensors;
    }

    /** Unmaps tensors that no rank uses any more, unless an operation is in flight. */
    public void sweep() {
        if (program == null || isFinished()) {
            tensors.sweep();
        }
    }

    /**
     * Begins an operation. The previous operation must be finished.
     *
     * @param work    program to run
     * @param header  header that every rank must agree on; sequences increase
     * @param operand operand, or null
     * @param result  result, or null
     * @param how     op that combines, or null
     */
    public void begin(
            SharedMemoryProgram work, CallHeader header, HostTensor operand, HostTensor result, ReduceOp how) {
        use(operand, result, how);
        call = header;
        standing.waitAnew();
        program = work;
        if (shown == header.sequence()) {
            // other ranks may be further, because they have seen that this rank has entered, and have overwritten older
            // headers
            next = resumed;
        } else {
            next = 0;
            // not for an entered operation: other ranks may still read the memory that its header names
            tensors.sweep();
            operands.find(work, operand, result);
            reserve(work);
        }
    }

    /**
     * Reserves the slots of this rank if an operation stages more than any earlier operation. This rank stages data in
     * the slots, and other ranks write results for this rank to them. Other ranks write to slots of this rank only
     * after this rank has entered. So no rank needs the size that another rank has reserved.
     */
    private void reserve(SharedMemoryProgram work) {
        if (work.slotBytes > reserved && (!operands.isShared() || work.keepsResults)) {
            int wanted = layout.reserved(work.slotBytes);
            for (int slot = 0; slot < SegmentLayout.SLOTS; slot++) {
                memory.reserve(layout.slot(slot) + reserved, wanted - reserved);
            }
            reserved = wanted;
        }
    }

    /** Drops the last operation, which is finished, and the references to the memory of the operation. */
    public void forget() {
        call = null;
        in = null;
        out = null;
    }

    private void use(HostTensor operand, HostTensor result, ReduceOp how) {
        in = operand;
        out = result;
        HostTensor either = operand == null ? result : operand;
        type = either == null ? null : either.dataType();
        kernels.use(type, how);
    }

    /**
     * Does the first half of the fast path, which is all steps until this rank has entered. {@link #begin} may begin
     * the same operation afterwards.
     *
     * @param work     program to run
     * @param sequence number of the operation
     * @param common   call that every rank must agree on
     * @param operand  operand, or null
     * @param how      op that combines, or null
     * @return false if this program has no fast path, or if this rank would have to wait; if the result is false, no
     *     step was done
     */
    public boolean publish(
            SharedMemoryProgram work, long sequence, CallHeader.Call common, HostTensor operand, ReduceOp how) {
        standing.waitAnew();
        if (!work.isDirect || standing.isMismatched() || !standing.allBegan(work)) {
            return false;
        }
        tensors.sweep();
        kernels.use(operand == null ? null : operand.dataType(), how);
        operands.find(work, operand, null);
        reserve(work);
        for (int step = 1; step < work.entered && !operands.isShared(); step++) {
            copyIn(work, step, operand);
        }
        operands.tell(work);
        standing.enter(sequence, common);
        standing.waitAnew();
        shown = sequence;
        resumed = work.entered + 1;
        return true;
    }

    /**
     * Does the second half of the fast path. Polls, for as long as a spin lasts, until other ranks have published
     * everything that the operation needs, with the right headers. Then does the remaining steps.
     *
     * @param work    program to run, as published
     * @param common  call that every rank must agree on
     * @param operand operand, or null
     * @param result  result, or null
     * @param how     op that combines, or null
     * @return number of polls that found something missing; {@link #NOT_THERE} if the operation must continue by
     *     {@link #begin}. The reason for {@link #NOT_THERE} may be that data is missing or wrong, with operand and
     *     result unchanged. Another reason may be that other ranks have not yet read the operand, or that the operation
     *     has failed on another rank
     */
    public int consume(
            SharedMemoryProgram work, CallHeader.Call common, HostTensor operand, HostTensor result, ReduceOp how) {
        int looks = 0;
        while (!isPublished(work, common)) {
            looks = looked(looks);
            if (looks == NOT_THERE) {
                return NOT_THERE;
            }
        }
        use(operand, result, how);
        for (int step = work.entered + 1; step < work.size; step++) {
            if (work.kind[step] > SharedMemoryProgram.COPY_IN) {
                move(work, step);
            } else if (work.kind[step] == SharedMemoryProgram.TELL_READ && operands.isAnyShared()) {
                standing.publish(work.value[step]);
            }
            while (work.kind[step] == SharedMemoryProgram.AWAIT_READ && !isRead(work, step)) {
                looks = looked(looks);
                if (looks == NOT_THERE) {
                    resumed = step;
                    return NOT_THERE;
                }
            }
        }
        if (hasLostOperands(work)) {
            resumed = work.size;
            return NOT_THERE;
        }
        finished(work, shown, common);
        return looks;
    }

    /** Counts a poll that found something missing. Returns {@link #NOT_THERE} after the last poll. */
    private int looked(int looks) {
        if (looks > LOOKS_WITHOUT_HINT) {
            Thread.onSpinWait();
        }
        return looks + 1 < looksMost ? looks + 1 : NOT_THERE;
    }

    /** Returns whether other ranks have published everything that the operation needs, with the right headers. */
    private boolean isPublished(SharedMemoryProgram work, CallHeader.Call common) {
        for (int step = work.entered + 1; step < work.size; step++) {
            if (work.kind[step] == SharedMemoryProgram.AWAIT_ENTERED
                    && !standing.hasEnteredQuietly(work.peer[step], shown, common)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Publishes that an operation has failed on this rank. The operation is the current operation, or the operation
     * that this rank has entered on the fast path. This method is called before the caller gets the failure.
     */
    public void abandon() {
        standing.abandon();
    }

    /** {@return whether all steps of the operation are done} */
    public boolean isFinished() {
        return next == program.size && !lostOperands;
    }

    /**
     * Returns whether the operation has failed on a rank whose tensors this rank may have read. The check comes after
     * all steps are done. This rank may have read data that the caller on the failed rank has written since the
     * failure. If this method returns true, the operation never ends, and fails with the group.
     */
    private boolean hasLostOperands(SharedMemoryProgram work) {
        lostOperands = work.readsTensors && operands.isAnyShared() && standing.isAbandoned();
        return lostOperands;
    }

    /** Does all steps that are possible now. Returns whether any step was done. */
    public boolean advance() {
        int first = next;
        int step = first;
        while (step < program.size) {
            SharedMemoryProgram before = program;
            if (program.kind[step] >= SharedMemoryProgram.COPY_IN) {
                if (program.writesResult(step) && standing.hasAbandoned(program.peer[step])) {
                    // the caller of that rank has its tensor back; the operation ends with the group on this rank too
                    break;
                }
                move(program, step);
            } else if (!isDone(program, step)) {
                break;
            }
            // another program was chosen, and this rank has already passed its gate
            step = program == before ? step + 1 : 1;
            next = step;
            standing.waitAnew();
        }
        if (step == program.size && first != step && !hasLostOperands(program)) {
            finished(program, call.sequence(), call.call());
        }
        return step != first;
    }

    private void finished(SharedMemoryProgram work, long sequence, CallHeader.Call common) {
        standing.finished(work, sequence, common);
        // a tensor that its caller has dropped must become unreachable, even if no other operation follows
        forget();
        if (work.chunks > 0) {
            moveOn();
        }
    }

    /**
     * Sets the slots for the chunks of the next operation. Its chunks follow the chunks of the operation that has
     * ended.
     */
    private void moveOn() {
        for (int i = 0; i < SegmentLayout.SLOTS; i++) {
            slots[i] = layout.slot((int) ((standing.chunks() + i) % SegmentLayout.SLOTS));
        }
    }

    /** Returns the first byte that a step names in a segment. */
    private int staged(SharedMemoryProgram work, int step) {
        int chunk = work.chunk[step];
        int start = switch (chunk) {
            case SharedMemoryProgram.LINE -> SegmentLayout.payload(standing.operation());
            case SharedMemoryProgram.SMALL -> SegmentLayout.small(standing.operation());
            default -> slots[chunk % SegmentLayout.SLOTS];
        };
        return start + work.at[step];
    }

    /** Does a step that moves no elements. Returns false if the step waits for other ranks. */
    private boolean isDone(SharedMemoryProgram work, int step) {
        switch (work.kind[step]) {
            case SharedMemoryProgram.GATE:
                return standing.allBegan(work);
            case SharedMemoryProgram.ENTER:
                operands.tell(work);
                standing.enter(call.sequence(), call.call());
                return true;
            case SharedMemoryProgram.AWAIT_ENTERED:
                return standing.hasEntered(work.peer[step], call);
            case SharedMemoryProgram.AWAIT_ALL_ENTERED:
                return standing.allEntered(call);
            case SharedMemoryProgram.CHOOSE:
                return hasChosen();
            case SharedMemoryProgram.AWAIT_STAGED:
                return standing.hasStaged(work.peer[step], work.value[step], passes(work));
            case SharedMemoryProgram.AWAIT_ALL_STAGED:
                return standing.allStaged(work.value[step], passes(work));
            case SharedMemoryProgram.AWAIT_READ:
                return isRead(work, step);
            case SharedMemoryProgram.PUBLISH:
            case SharedMemoryProgram.TELL_READ:
                standing.publish(work.value[step]);
                return true;
            case SharedMemoryProgram.AWAIT:
                return standing.hasReached(work.peer[step], work.value[step]);
            default:
                return standing.allReached(work.value[step]);
        }
    }

    /** Continues in shared tensors if all ranks have shared tensors. All ranks make the same choice. */
    private boolean hasChosen() {
        if (!standing.allEntered(call)) {
            return false;
        }
        if (operands.usesSharedTensors(program)) {
            program = program.inTensors;
        }
        return true;
    }

    /** Returns whether waits for staged data skip ranks that stage nothing, because this rank also stages nothing. */
    private boolean passes(SharedMemoryProgram work) {
        return work.readsOperands && (operands.isShared() || !work.stages);
    }

    /** Returns whether other ranks have read this rank's operand, as far as a step waits for these reads. */
    private boolean isRead(SharedMemoryProgram work, int step) {
        int peer = work.peer[step];
        return !operands.isShared()
                || (peer < 0 ? standing.allReached(work.value[step]) : standing.hasReached(peer, work.value[step]));
    }

    private void move(SharedMemoryProgram work, int step) {
        int count = work.count[step];
        Object result = out == null ? null : TensorMemory.memoryAt(out, work.out[step]);
        long to = out == null ? 0 : TensorMemory.offsetAt(out, work.out[step]);
        switch (work.kind[step]) {
            case SharedMemoryProgram.COPY_IN:
                if (!operands.isShared()) {
                    copyIn(work, step, in);
                }
                break;
            case SharedMemoryProgram.COPY_OWN_IN:
                copyIn(work, step, in);
                break;
            case SharedMemoryProgram.COPY_OUT:
                copyOut(work, step, result, to);
                break;
            case SharedMemoryProgram.COPY:
                copy(work, step);
                break;
            case SharedMemoryProgram.COPY_OVER:
                copies.copy(type, area(work, step), at(work, step), result, to, count);
                break;
            case SharedMemoryProgram.COMBINE:
                kernel(work, step).combine(result, to, area(work, step), at(work, step), count);
                break;
            case SharedMemoryProgram.COMBINE_BOTH:
                if (writesBack(work, step)) {
                    kernel(work, step).combineBoth(result, to, area(work, step), at(work, step), count);
                } else {
                    kernel(work, step).combine(result, to, area(work, step), at(work, step), count);
                    copyBoth(work, step, result, to);
                }
                break;
            default:
                kernel(work, step).combine(areas[rank], staged(work, step), area(work, step), at(work, step), count);
        }
    }

    private void copyOut(SharedMemoryProgram work, int step, Object result, long to) {
        int at = at(work, step);
        if (operands.readsPeerTensor(work, step)) {
            copies.copy(type, result, to, area(work, step), at, work.count[step]);
        } else {
            elements[work.peer[step]].read(type, at, result, to, work.count[step]);
        }
    }

    /** Returns whether the result of a step is also written to the memory of the second operand. */
    private boolean writesBack(SharedMemoryProgram work, int step) {
        return work.chunk[step] == SharedMemoryProgram.OPERAND
                ? operands.isInPlace(work.peer[step])
                : !operands.readsPeerTensor(work, step);
    }

    /** Copies the result of a step also to the segment or the result of another rank. */
    private void copyBoth(SharedMemoryProgram work, int step, Object result, long from) {
        int peer = work.peer[step];
        boolean inTensors = work.chunk[step] == SharedMemoryProgram.OPERAND;
        ByteBuffer into = inTensors ? operands.result(peer) : areas[peer];
        int at = inTensors ? operands.resultAt(work, step) : staged(work, step);
        copies.copy(type, into, at, result, from, work.count[step]);
    }

    private Kernel kernel(SharedMemoryProgram work, int step) {
        return kernels.of(work, step, operands.accessesPeerTensor(work, step));
    }

    private void copyIn(SharedMemoryProgram work, int step, HostTensor operand) {
        Object source = TensorMemory.memoryAt(operand, work.in[step]);
        long from = TensorMemory.offsetAt(operand, work.in[step]);
        if (kernels.multiply()) {
            kernels.copying().combine(areas[rank], staged(work, step), source, from, work.count[step]);
        } else {
            elements[rank].write(operand.dataType(), staged(work, step), source, from, work.count[step]);
        }
    }

    private void copy(SharedMemoryProgram work, int step) {
        if (kernels.multiply() && work.multiplies[step]) {
            kernels.copying().combine(out, work.out[step], in, work.in[step], work.count[step]);
        } else {
            copies.copy(out, work.out[step], in, work.in[step], work.count[step]);
        }
    }

    /** Returns the memory that a step accesses in addition to this rank's operand and result. */
    private ByteBuffer area(SharedMemoryProgram work, int step) {
        return operands.accessesPeerTensor(work, step) ? operands.memory(work, step) : areas[work.peer[step]];
    }

    /** Returns the first byte that a step accesses in {@link #area}. */
    private int at(SharedMemoryProgram work, int step) {
        return operands.accessesPeerTensor(work, step) ? operands.at(work, step, type.byteSize()) : staged(work, step);
    }

    /** {@return the ranks that the next step waits for; empty if the step does not wait} */
    public BitSet waitingFor() {
        BitSet peers = new BitSet();
        for (int peer = 0; peer < worldSize && !isFinished(); peer++) {
            peers.set(
                    peer,
                    peer != rank
                            && (next == program.size
                                    ? standing.hasAbandoned(peer)
                                    : standing.isAwaited(peer, program, next, call, passes(program))));
        }
        return peers;
    }

    /** {@return the next step, which is the number of steps done} */
    public int step() {
        return next;
    }

    /** Returns the bytes that this rank has written for or read from other ranks in the current operation. */
    public long bytesMoved() {
        return program.moved(next) * unit();
    }

    /**
     * Describes the progress of the current operation.
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

    /** The kernels of the current operation. Only the thread that makes progress uses this object. */
    static final class OperationKernels {
        private final KernelCache kernels;
        private ReduceOp op;
        private DataType type;
        /** The kernel for elements in which operands are still missing. */
        private Kernel combining;
        /** The kernel for elements whose last operand is combined. */
        private Kernel completing;
        /** Whether operands are multiplied when they are first read. */
        private boolean multiplies;

        OperationKernels(int worldSize) {
            kernels = new KernelCache(worldSize);
        }

        /** Begins an operation on elements of a type. {@code how} is the op that combines. Type and op may be null. */
        void use(DataType elementType, ReduceOp how) {
            multiplies = how != null && how.factor() != 1;
            if (how != null && (how != op || elementType != type)) {
                combining = kernels.of(elementType, how == ReduceOp.AVG ? ReduceOp.SUM : how);
                completing = kernels.of(elementType, how);
                op = how;
                type = elementType;
            }
        }

        boolean multiply() {
            return multiplies;
        }

        /** Returns the kernel that copies elements of the operand, if operands are multiplied. */
        Kernel copying() {
            return kernels.of(type, op, PreMulOperands.COPY);
        }

        /**
         * Returns the kernel of a step. {@code readsOperand} is whether the step combines the operand of a rank
         * directly.
         */
        Kernel of(SharedMemoryProgram work, int step, boolean readsOperand) {
            if (multiplies) {
                return kernels.of(type, op, PreMulOperands.of(work.multiplies[step], readsOperand));
            }
            return work.completes[step] ? completing : combining;
        }
    }
}
