package ferro.collectives.engine;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.ElementCopier;
import ferro.collectives.reduce.KernelCache;
import ferro.collectives.reduce.PreMulOperands;
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
 * operations may be in flight, and each link carries all posts of the first operation before any post of the second
 * operation.
 */
final class PlanRun {
    private static final Region[] REGIONS = Region.values();
    private static final HostTensor NOTHING = HostTensor.of(new byte[0]);
    private static final int LEAST_SCRATCH_BYTES = 4096;

    private final PeerLinks links;
    private final ElementCopier copies = new ElementCopier();
    private final KernelCache kernels;
    private final HostTensor[] memory = new HostTensor[REGIONS.length];
    /** Position of each send on its link, from 1. The send at position n ends with the n-th send of the link. */
    private long[] sendPosition = new long[64];

    private long[] receivePosition = new long[64];
    /** Scratch memory for plans. The buffer grows to the largest size that a plan needs, at most 32 MiB. */
    private ByteBuffer scratch = ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());

    private final HostTensor[] scratchByType = new HostTensor[DataType.values().length];
    /**
     * The op of a sum of multiplied inputs; null for any other op. Each element of a sum of multiplied inputs is
     * multiplied when it is first read from the operand, for a copy or for a send.
     */
    private ReduceOp multiplier;
    /** Memory that the current operation sends instead of its operand, or null. */
    private HostTensor products;

    private HostTensor keptProducts;
    private CallHeader call;
    private PreparedCall prepared;
    private Schedule schedule;
    private int sendsPosted;
    private int sendsDone;
    private int receivesPosted;
    private int receivesDone;
    private boolean alone;
    private long bytesBefore;

    PlanRun(PeerLinks links, KernelCache kernels) {
        this.links = links;
        this.kernels = kernels;
    }

    /** Begins an operation. {@code isAlone} is true if no other operation is in flight. */
    void begin(CallHeader header, PreparedCall what, HostTensor in, HostTensor out, boolean isAlone) {
        // the calls that may fail come first, so that no operation has begun after a failure
        HostTensor buffer = scratch(what.carriedType, what.schedule.scratchElements);
        multiply(what, in);
        sendPosition = longer(sendPosition, what.schedule.sends.length);
        receivePosition = longer(receivePosition, what.schedule.receives.length);
        call = header;
        prepared = what;
        schedule = what.schedule;
        memory[Region.IN.ordinal()] = in;
        memory[Region.OUT.ordinal()] = out;
        memory[Region.SCRATCH.ordinal()] = buffer;
        sendsPosted = 0;
        sendsDone = 0;
        receivesPosted = 0;
        receivesDone = 0;
        alone = isAlone;
        bytesBefore = links.bytesMoved();
        takePositions();
    }

    private static long[] longer(long[] array, int length) {
        return array.length < length ? new long[length] : array;
    }

    private void takePositions() {
        for (int i = 0; i < schedule.sends.length; i++) {
            sendPosition[i] = ++links.to(schedule.sends[i].peer()).sendPlaces;
        }
        for (int i = 0; i < schedule.receives.length; i++) {
            if (!schedule.receives[i].isLocal()) {
                receivePosition[i] = ++links.to(schedule.receives[i].peer()).receivePlaces;
            }
        }
    }

    CallHeader call() {
        return call;
    }

    /**
     * Returns whether this operation may conflict with an operation on the given tensors. Two operations conflict if
     * one operation writes memory that the other operation reads or writes.
     */
    boolean mayTouch(HostTensor in, HostTensor out) {
        HostTensor ownOut = memory[Region.OUT.ordinal()];
        return AccessedRanges.mayAlias(ownOut, in)
                || AccessedRanges.mayAlias(ownOut, out)
                || AccessedRanges.mayAlias(memory[Region.IN.ordinal()], out);
    }

    /** Drops the references to the caller's memory. */
    void forget() {
        call = null;
        products = null;
        if (keptProducts != null && keptProducts.byteCount() > Schedule.SCRATCH_BYTES_MOST) {
            keptProducts = null;
        }
        Arrays.fill(memory, null);
    }

    /** Records that from now on another operation is in flight at the same time. */
    void joined() {
        alone = false;
    }

    boolean isFinished() {
        return sendsDone == schedule.sends.length && receivesDone == schedule.receives.length;
    }

    /** Counts finished steps. Returns whether a step has finished. */
    boolean collect() {
        int before = sendsDone + receivesDone;
        while (sendsDone < sendsPosted
                && links.to(schedule.sends[sendsDone].peer()).link.sent() >= sendPosition[sendsDone]) {
            sendsDone++;
        }
        while (receivesDone < receivesPosted && hasArrived(schedule.receives[receivesDone])) {
            receivesDone++;
        }
        return sendsDone + receivesDone != before;
    }

    /** Returns whether the first unfinished receive has arrived. */
    private boolean hasArrived(Schedule.ScheduledPost receive) {
        return receive.isLocal() || links.to(receive.peer()).link.received() >= receivePosition[receivesDone];
    }

    private boolean isReady(Schedule.ScheduledPost post) {
        return post.afterSends() <= sendsDone && post.afterReceives() <= receivesDone;
    }

    /** Posts the steps that can be posted now. Returns whether a step was posted. */
    boolean post() {
        Schedule.ScheduledPost[] receives = schedule.receives;
        int before = receivesPosted + sendsPosted;
        while (receivesPosted < receives.length
                && isReady(receives[receivesPosted])
                && postReceive(receives[receivesPosted])) {
            receivesPosted++;
        }
        Schedule.ScheduledPost[] sends = schedule.sends;
        while (sendsPosted < sends.length && isReady(sends[sendsPosted])) {
            Schedule.ScheduledPost send = sends[sendsPosted];
            PeerLinks.CountedLink counted = links.to(send.peer());
            if (counted.sendsPosted + 1 != sendPosition[sendsPosted]) {
                break;
            }
            HostTensor data = data(send);
            counted.link.send(header(prepared.sendCalls, send.peer()), data, send.from(), send.elements());
            counted.sendsPosted++;
            sendsPosted++;
        }
        return receivesPosted + sendsPosted != before;
    }

    private HostTensor data(Schedule.ScheduledPost send) {
        HostTensor data = memory[send.region().ordinal()];
        if (products == null || send.region() != Region.IN) {
            return data;
        }
        copyProducts(products, send.from(), data, send.from(), send.elements());
        return products;
    }

    /** Posts the next receive. Returns false if the receive must wait for earlier receives on its link. */
    private boolean postReceive(Schedule.ScheduledPost post) {
        HostTensor into = memory[post.region().ordinal()];
        if (post.isLocal()) {
            doLocally(post, into);
            return true;
        }
        PeerLinks.CountedLink counted = links.to(post.peer());
        if (counted.receivesPosted + 1 != receivePosition[receivesPosted]) {
            return false;
        }
        CallHeader header = header(prepared.receiveCalls, post.peer());
        if (post.isCombine()) {
            counted.link.receiveCombine(header, into, post.from(), post.elements(), op(post));
        } else {
            counted.link.receive(header, into, post.from(), post.elements());
        }
        counted.receivesPosted++;
        return true;
    }

    private void doLocally(Schedule.ScheduledPost post, HostTensor into) {
        HostTensor source = memory[post.source().ordinal()];
        if (post.isCombine()) {
            kernels.of(into.dataType(), op(post))
                    .combine(into, post.from(), source, post.sourceFrom(), post.elements());
        } else {
            copy(post, source, into);
        }
    }

    private ReduceOp op(Schedule.ScheduledPost post) {
        ReduceOp op = post.isComplete() ? prepared.completing : prepared.combining;
        return post.readsFirst() ? op.swapped() : op;
    }

    /** Does the copies of an operation that consists of copies only. */
    void copyAll(PreparedCall like, HostTensor in, HostTensor out) {
        multiply(like, in);
        for (Schedule.ScheduledPost local : like.schedule.receives) {
            copy(local, in, out);
        }
    }

    private void copy(Schedule.ScheduledPost post, HostTensor source, HostTensor into) {
        if (multiplier != null && post.source() == Region.IN) {
            copyProducts(into, post.from(), source, post.sourceFrom(), post.elements());
        } else {
            // in a call in place, the operand is already in the result
            copies.copy(into, post.from(), source, post.sourceFrom(), post.elements());
        }
    }

    private CallHeader header(CallHeader.Call[] pairs, int peer) {
        return pairs == null ? call : CallHeader.of(call.sequence(), pairs[peer]);
    }

    /** Returns the ranks from which this rank waits for data, and ranks that have not yet taken data of this rank. */
    BitSet waitingFor() {
        BitSet peers = new BitSet();
        if (receivesDone < schedule.receives.length && !schedule.receives[receivesDone].isLocal()) {
            peers.set(schedule.receives[receivesDone].peer());
        } else if (sendsDone < schedule.sends.length) {
            peers.set(schedule.sends[sendsDone].peer());
        }
        return peers;
    }

    String progress() {
        return "step " + step() + " of " + schedule.steps() + ", " + bytes(schedule.receives, receivesDone) + " of "
                + bytes(schedule.receives, schedule.receives.length) + " bytes received";
    }

    long bytesMoved() {
        // if several operations share a link, only full posts are known to belong to this operation
        return alone
                ? links.bytesMoved() - bytesBefore
                : bytes(schedule.sends, sendsDone) + bytes(schedule.receives, receivesDone);
    }

    int step() {
        return sendsDone + receivesDone;
    }

    private long bytes(Schedule.ScheduledPost[] posts, int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            if (!posts[i].isLocal()) {
                int unit = memory[posts[i].region().ordinal()].dataType().byteSize();
                bytes += posts[i].elements() * unit;
            }
        }
        return bytes;
    }

    /** Prepares the multiplied operands. If memory runs out, this method throws and the operation has not begun. */
    private void multiply(PreparedCall by, HostTensor operand) {
        multiplier = by.factor() == 1 ? null : by.op;
        boolean sends = multiplier != null && operand != null && by.schedule.sendsOperand;
        products = sends ? products(operand.dataType(), operand.elementCount()) : null;
    }

    private HostTensor products(DataType type, long elements) {
        if (keptProducts == null || keptProducts.dataType() != type || keptProducts.elementCount() < elements) {
            int length = Math.toIntExact(elements);
            keptProducts = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
        }
        return keptProducts;
    }

    /** Copies elements of the operand and multiplies the copies. The target may be the memory of the operand. */
    private void copyProducts(HostTensor into, long to, HostTensor operand, long from, long elements) {
        kernels.of(into.dataType(), multiplier, PreMulOperands.COPY).combine(into, to, operand, from, elements);
    }

    /** Returns scratch memory of at least {@code elements} elements. All operations of one type share one view. */
    private HostTensor scratch(DataType type, long elements) {
        if (type == null) {
            return NOTHING;
        }
        int bytes = Math.toIntExact(elements * type.byteSize());
        HostTensor known = scratchByType[type.ordinal()];
        if (known != null && known.byteCount() >= bytes) {
            return known;
        }
        if (scratch.capacity() < bytes) {
            int rounded = Math.max(LEAST_SCRATCH_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
            // near the maximum of schedules, rounding up would double the size
            int size = rounded > Schedule.SCRATCH_BYTES_MOST ? bytes : rounded;
            scratch = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
            Arrays.fill(scratchByType, null);
        }
        // the view covers as many elements as fit, so that operations of any length can use the same view
        HostTensor made = HostTensor.of(
                type,
                scratch.slice(0, scratch.capacity() / type.byteSize() * type.byteSize())
                        .order(ByteOrder.nativeOrder()));
        scratchByType[type.ordinal()] = made;
        return made;
    }
}
