package ferro.collectives.engine;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.Copies;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.PreMulTarget;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The run of one operation over links. A run posts the steps whose dependencies are finished, and counts finished
 * steps. A run never waits, and allocates nothing if its arrays are long enough. One object runs one operation after
 * the other.
 *
 * <p>Each post gets its position on its link when the operation begins, and is posted only at that position. So several
 * operations may be in flight, and each link carries all posts of the first operation before any post of the second.
 */
final class PlanRun {
    private static final Region[] REGIONS = Region.values();

    private final Lanes lanes;
    private final Scratch scratch = new Scratch();
    private final Copies copies = new Copies();
    private final KeptKernels kernels;
    private final PreMulOperands products;
    private final HostTensor[] memory = new HostTensor[REGIONS.length];
    /**
     * Position of each send on its link, counted from 1. The send is finished when so many sends of the link are
     * finished.
     */
    private long[] sendPosition = new long[64];

    private long[] receivePosition = new long[64];
    private Operation operation;
    private Prepared prepared;
    private Schedule schedule;
    private int sendsPosted;
    private int sendsDone;
    private int receivesPosted;
    private int receivesDone;
    private boolean alone;
    private long bytesBefore;

    PlanRun(Lanes lanes, KeptKernels kernels) {
        this.lanes = lanes;
        this.kernels = kernels;
        this.products = new PreMulOperands(kernels);
    }

    /**
     * Begins an operation.
     *
     * @param isAlone whether no other operation is in flight
     */
    void begin(Operation next, boolean isAlone) {
        Prepared what = next.prepared();
        // the steps that may fail come first: if one fails, nothing has begun
        HostTensor buffer = scratch.of(what.carriedType, what.schedule.scratchElements);
        products.begin(what, next.in());
        sendPosition = longer(sendPosition, what.schedule.sends.count);
        receivePosition = longer(receivePosition, what.schedule.receives.count);
        operation = next;
        prepared = what;
        schedule = what.schedule;
        memory[Region.IN.ordinal()] = next.in();
        memory[Region.OUT.ordinal()] = next.out();
        memory[Region.SCRATCH.ordinal()] = buffer;
        sendsPosted = 0;
        sendsDone = 0;
        receivesPosted = 0;
        receivesDone = 0;
        alone = isAlone;
        bytesBefore = lanes.bytesMoved();
        takePositions();
    }

    private static long[] longer(long[] array, int length) {
        return array.length < length ? new long[length] : array;
    }

    private void takePositions() {
        Schedule.Posts sends = schedule.sends;
        for (int i = 0; i < sends.count; i++) {
            sendPosition[i] = ++lanes.to(sends.peer[i]).sendPlaces;
        }
        Schedule.Posts receives = schedule.receives;
        for (int i = 0; i < receives.count; i++) {
            if (!receives.isLocal(i)) {
                receivePosition[i] = ++lanes.to(receives.peer[i]).receivePlaces;
            }
        }
    }

    Operation operation() {
        return operation;
    }

    /** Drops the references to the caller's memory. */
    void forget() {
        operation = null;
        products.forget();
        Arrays.fill(memory, null);
    }

    /** Records that from now on another operation is in flight at the same time. */
    void joined() {
        alone = false;
    }

    boolean isFinished() {
        return sendsDone == schedule.sends.count && receivesDone == schedule.receives.count;
    }

    /** Counts finished steps. Returns whether a step has finished. */
    boolean collect() {
        int before = sendsDone + receivesDone;
        while (sendsDone < sendsPosted
                && lanes.to(schedule.sends.peer[sendsDone]).link.sent() >= sendPosition[sendsDone]) {
            sendsDone++;
        }
        while (receivesDone < receivesPosted && hasArrived(receivesDone)) {
            receivesDone++;
        }
        return sendsDone + receivesDone != before;
    }

    private boolean hasArrived(int index) {
        return schedule.receives.isLocal(index)
                || lanes.to(schedule.receives.peer[index]).link.received() >= receivePosition[index];
    }

    private boolean isReady(Schedule.Posts posts, int index) {
        return posts.afterSends[index] <= sendsDone && posts.afterReceives[index] <= receivesDone;
    }

    /** Posts the steps that can be posted now. Returns whether a step was posted. */
    boolean post() {
        Schedule.Posts receives = schedule.receives;
        int before = receivesPosted + sendsPosted;
        while (receivesPosted < receives.count
                && isReady(receives, receivesPosted)
                && postReceive(receives, receivesPosted)) {
            receivesPosted++;
        }
        Schedule.Posts sends = schedule.sends;
        while (sendsPosted < sends.count && isReady(sends, sendsPosted)) {
            int peer = sends.peer[sendsPosted];
            Lanes.CountedLink channel = lanes.to(peer);
            if (channel.sendsPosted + 1 != sendPosition[sendsPosted]) {
                break;
            }
            HostTensor data = data(sends, sendsPosted);
            CallHeader header = header(prepared.sendCalls, peer);
            channel.link.send(header, data, sends.from[sendsPosted], sends.elements[sendsPosted]);
            channel.sendsPosted++;
            sendsPosted++;
        }
        return receivesPosted + sendsPosted != before;
    }

    /** Returns the memory that a post sends from. */
    private HostTensor data(Schedule.Posts sends, int index) {
        HostTensor data = memory[sends.region[index].ordinal()];
        return sends.region[index] == Region.IN ? products.sent(data, sends.from[index], sends.elements[index]) : data;
    }

    /** Posts a receive. Returns false if the position of the receive on its link is not the next one yet. */
    private boolean postReceive(Schedule.Posts posts, int index) {
        HostTensor into = memory[posts.region[index].ordinal()];
        if (posts.isLocal(index)) {
            doLocally(posts, index, into);
            return true;
        }
        Lanes.CountedLink channel = lanes.to(posts.peer[index]);
        if (channel.receivesPosted + 1 != receivePosition[index]) {
            return false;
        }
        CallHeader call = header(prepared.receiveCalls, posts.peer[index]);
        if (Schedule.isCombine(posts.kind[index])) {
            channel.link.receiveCombine(call, into, posts.from[index], posts.elements[index], op(posts, index));
        } else {
            channel.link.receive(call, into, posts.from[index], posts.elements[index]);
        }
        channel.receivesPosted++;
        return true;
    }

    private void doLocally(Schedule.Posts posts, int index, HostTensor into) {
        HostTensor source = memory[posts.source[index].ordinal()];
        if (posts.kind[index] == Schedule.COPY) {
            copy(posts, index, source, into);
            return;
        }
        kernels.of(into.dataType(), op(posts, index))
                .combine(into, posts.from[index], source, posts.sourceFrom[index], posts.elements[index]);
    }

    /** Returns how a post combines its elements with those that are present. */
    private ReduceOp op(Schedule.Posts posts, int index) {
        boolean completes = posts.kind[index] == Schedule.COMPLETE || posts.kind[index] == Schedule.LOCAL_COMPLETE;
        ReduceOp op = completes ? prepared.completing : prepared.combining;
        return posts.readsFirst[index] ? op.swapped() : op;
    }

    /** Does the copies of an operation that consists of copies only. */
    void copyAll(Prepared like, HostTensor in, HostTensor out) {
        Schedule.Posts local = like.schedule.receives;
        products.begin(like, in);
        for (int i = 0; i < local.count; i++) {
            copy(local, i, in, out);
        }
    }

    private void copy(Schedule.Posts posts, int index, HostTensor source, HostTensor into) {
        long from = posts.sourceFrom[index];
        if (products.areMade() && posts.source[index] == Region.IN) {
            products.copy(into, posts.from[index], source, from, posts.elements[index]);
        } else {
            // in a call in place, the operand is already in the result
            copies.copy(into, posts.from[index], source, from, posts.elements[index]);
        }
    }

    private CallHeader header(CallHeader.Call[] pairs, int peer) {
        return pairs == null ? operation : CallHeader.of(operation.sequence(), pairs[peer]);
    }

    /**
     * Returns the ranks from which this rank waits for data, and the ranks that have not yet taken data of this rank.
     */
    BitSet waitingFor() {
        BitSet peers = new BitSet();
        if (receivesDone < schedule.receives.count && !schedule.receives.isLocal(receivesDone)) {
            peers.set(schedule.receives.peer[receivesDone]);
        } else if (sendsDone < schedule.sends.count) {
            peers.set(schedule.sends.peer[sendsDone]);
        }
        return peers;
    }

    String progress() {
        return "step " + step() + " of " + (schedule.sends.count + schedule.receives.count) + ", "
                + bytes(schedule.receives, receivesDone) + " of " + bytes(schedule.receives, schedule.receives.count)
                + " bytes received";
    }

    PendingWork.Position position() {
        // if several operations share a link, only full posts are known to belong to this operation
        long bytes = alone
                ? lanes.bytesMoved() - bytesBefore
                : bytes(schedule.sends, sendsDone) + bytes(schedule.receives, receivesDone);
        return new PendingWork.Position(step(), bytes, RankLists.numbers(waitingFor()));
    }

    private int step() {
        return sendsDone + receivesDone;
    }

    private long bytes(Schedule.Posts posts, int count) {
        long elements = 0;
        int bytes = 1;
        for (int i = 0; i < count; i++) {
            if (!posts.isLocal(i)) {
                elements += posts.elements[i];
                bytes = memory[posts.region[i].ordinal()].dataType().byteSize();
            }
        }
        return elements * bytes;
    }

    /**
     * The multiplied operands of a sum of multiplied inputs. Each element is multiplied when it is first read from the
     * operand, for a copy or for a send. Only the thread that makes progress uses this object, for one operation at a time.
     */
    static final class PreMulOperands {
        private final KeptKernels kernels;
        private HostTensor kept;
        private ReduceOp op;
        /** Memory that the current operation sends instead of its operand, or null. */
        private HostTensor sent;

        PreMulOperands(KeptKernels kernels) {
            this.kernels = kernels;
        }

        /** Begins an operation. If memory runs out, this method throws and the operation has not begun. */
        void begin(Prepared prepared, HostTensor operand) {
            op = prepared.factor() == 1 ? null : prepared.op;
            boolean sends = op != null && operand != null && prepared.schedule.sendsOperand;
            sent = sends ? buffer(operand.dataType(), operand.elementCount()) : null;
        }

        /** Drops memory that is too large to keep. */
        void forget() {
            sent = null;
            if (kept != null && kept.byteCount() > Schedule.SCRATCH_BYTES_MOST) {
                kept = null;
            }
        }

        private HostTensor buffer(DataType type, long elements) {
            if (kept == null || kept.dataType() != type || kept.elementCount() < elements) {
                int length = Math.toIntExact(elements);
                kept = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
            }
            return kept;
        }

        /**
         * Returns the memory from which elements of the operand are sent. The elements have the same index in that memory
         * as in the operand.
         */
        HostTensor sent(HostTensor operand, long from, long elements) {
            if (sent == null) {
                return operand;
            }
            copy(sent, from, operand, from, elements);
            return sent;
        }

        /** Returns whether operands are multiplied. */
        boolean areMade() {
            return op != null;
        }

        /** Copies elements of the operand and multiplies them. The target may be the same memory. */
        void copy(HostTensor into, long to, HostTensor operand, long from, long elements) {
            kernels.of(into.dataType(), op, PreMulTarget.COPY).combine(into, to, operand, from, elements);
        }
    }

    /**
     * Scratch memory for plans that need it, for one operation at a time; it grows to the largest size needed, at most 32 MiB.
     */
    static final class Scratch {
        private static final HostTensor NOTHING = HostTensor.of(new byte[0]);
        private static final int LEAST_BYTES = 4096;

        private final HostTensor[] byType = new HostTensor[DataType.values().length];
        private final HostTensor[] empty = new HostTensor[DataType.values().length];
        private ByteBuffer memory;

        /** Returns a tensor of at least so many elements: one view for all operations of a type. */
        HostTensor of(DataType type, long elements) {
            if (type == null) {
                return NOTHING;
            }
            if (elements == 0) {
                return empty(type);
            }
            int bytes = Math.toIntExact(elements * type.byteSize());
            HostTensor known = byType[type.ordinal()];
            if (known != null && known.byteCount() >= bytes) {
                return known;
            }
            if (memory == null || memory.capacity() < bytes) {
                int rounded = Math.max(LEAST_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
                // near the maximum of schedules, rounding up would double the size
                int size = rounded > Schedule.SCRATCH_BYTES_MOST ? bytes : rounded;
                memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
                Arrays.fill(byType, null);
            }
            // the view covers all whole elements, so that another length needs no other view
            HostTensor made = HostTensor.of(
                    type,
                    memory.slice(0, memory.capacity() / type.byteSize() * type.byteSize())
                            .order(ByteOrder.nativeOrder()));
            byType[type.ordinal()] = made;
            return made;
        }

        /** Returns a tensor without elements; it has its type, by which a link finds out how to combine. */
        private HostTensor empty(DataType type) {
            HostTensor known = empty[type.ordinal()];
            if (known == null) {
                known = HostTensor.ofArray(type, type.carrier().newArray(0), 0, 0);
                empty[type.ordinal()] = known;
            }
            return known;
        }
    }
}
