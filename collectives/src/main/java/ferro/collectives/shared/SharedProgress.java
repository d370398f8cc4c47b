package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/**
 * The progress of the ranks. Each rank publishes its progress in its segment, and reads the segments of other ranks.
 * Headers show the entered operations, and flags show the done steps. Flags and headers of other ranks are compared
 * with counts of what this rank has finished. Only the thread that makes progress uses this object.
 */
final class SharedProgress {
    private final int rank;
    private final int worldSize;
    private final ByteBuffer[] areas;
    private final ByteBuffer own;
    private final Transport.Events events;
    private final IntConsumer wake;
    /** One more than the number of ranks that were waited for and have come, counted from the rank after this rank. */
    private int come = 1;

    private boolean mismatched;
    /** Number of finished operations. The next two fields are sequences and calls of the last finished operations. */
    private long operations;

    private final long[] sequences = new long[SegmentLayout.HEADERS];
    private final CallHeader.Call[] calls = new CallHeader.Call[SegmentLayout.HEADERS];
    /** For each rank, the number of operations that it is known to have entered with the same calls as this rank. */
    private final long[] known;

    /** Number of chunks of all finished operations. {@code values} is the sum of the bounds of their flag values. */
    private long chunks;

    private long values;

    /**
     * Makes the view of one rank.
     *
     * @param areas  segments of all ranks; all bytes that the layout uses are zero
     * @param events receives an event for a rank that is in another call
     * @param wake   wakes a rank that may sleep, after something was published for the rank
     */
    SharedProgress(int rank, ByteBuffer[] areas, Transport.Events events, IntConsumer wake) {
        this.rank = rank;
        this.areas = areas;
        this.own = areas[rank];
        this.worldSize = areas.length;
        this.events = events;
        this.wake = wake;
        this.known = new long[worldSize];
    }

    /** Records that an operation is finished. */
    void finished(SharedMemoryProgram work, long sequence, CallHeader.Call common) {
        int line = SegmentLayout.line(operations);
        sequences[line] = sequence;
        calls[line] = common;
        operations++;
        chunks += work.chunks;
        values += work.values;
    }

    /** Returns the number of chunks of all finished operations. */
    long chunks() {
        return chunks;
    }

    /** Returns the number of the current operation, or of the next operation if none is current, counted from 0. */
    long operation() {
        return operations;
    }

    boolean isMismatched() {
        return mismatched;
    }

    /** Resets the count of ranks that have come, because the wait has ended or another wait begins. */
    void waitAnew() {
        come = 1;
    }

    /** Publishes that this rank has entered and that its staged data can be read. */
    void enter(long sequence, CallHeader.Call common) {
        int at = SegmentLayout.header(operations);
        // a slower rank may still compare the previous header of this line, and must not confuse it with the new header
        ProgressCounters.withdraw(own, at);
        WireHeader.putRest(common, own, at);
        ProgressCounters.release(own, at, sequence);
        wakeAll();
    }

    /** Writes a word {@link SegmentLayout#OPERAND} to RESULT_START into the header that this rank enters next. */
    void putWord(int which, long value) {
        own.putLong(SegmentLayout.word(operations, which), value);
    }

    /** Returns one of the words of {@link #putWord} from the header of a rank that has entered. */
    long word(int peer, int which) {
        return areas[peer].getLong(SegmentLayout.word(operations, which));
    }

    void publish(int value) {
        ProgressCounters.release(own, SegmentLayout.flag(), values + value);
        wakeAll();
    }

    /**
     * Publishes that the current operation has failed on this rank, whose caller may use operand and result again.
     * Other ranks see the failure before anything that the caller writes.
     */
    void abandon() {
        ProgressCounters.announce(own, SegmentLayout.abandoned(), operations + 1);
    }

    /**
     * Returns whether the current operation has failed on a rank. The check happens after all earlier reads of this
     * thread.
     */
    boolean hasAbandoned(int peer) {
        return ProgressCounters.again(areas[peer], SegmentLayout.abandoned()) == operations + 1;
    }

    /** Returns whether the current operation has failed on any other rank. */
    boolean isAbandoned() {
        for (int places = 1; places < worldSize; places++) {
            if (hasAbandoned(behind(places))) {
                return true;
            }
        }
        return false;
    }

    private void wakeAll() {
        for (int peer = 0; peer < worldSize; peer++) {
            if (peer != rank) {
                wake.accept(peer);
            }
        }
    }

    /**
     * Returns whether this rank may begin an operation. All ranks must have entered the previous operation. For an
     * operation that needs no slot and no flag, it is enough that all ranks have entered the operation with the next
     * header line. Then no rank reads the old header in the line of the new operation any more.
     */
    boolean allBegan(SharedMemoryProgram work) {
        while (come < worldSize) {
            if (isBehind(behind(come), work)) {
                return false;
            }
            come++;
        }
        return true;
    }

    private boolean isBehind(int peer, SharedMemoryProgram work) {
        long need = work.isShort ? operations - (SegmentLayout.HEADERS - 2) : operations;
        return known[peer] < need && !follow(peer, need);
    }

    /**
     * Compares headers that a rank has entered since the last check. Returns whether the rank has entered {@code need}
     * operations.
     */
    private boolean follow(int peer, long need) {
        long entered = known[peer];
        while (entered < operations && passed(peer, entered)) {
            entered++;
        }
        known[peer] = entered;
        return entered >= need;
    }

    /** Returns whether a rank has entered an operation that ended on this rank. The header may be overwritten. */
    private boolean passed(int peer, long operation) {
        int line = SegmentLayout.line(operation);
        int at = SegmentLayout.header(operation);
        long sequence = sequences[line];
        long found = ProgressCounters.acquire(areas[peer], at);
        if (found != sequence) {
            // the line has a later header: that rank has compared this rank's header before it overwrote its own header
            return found > sequence;
        }
        CallHeader other = WireHeader.other(sequence, calls[line], found, areas[peer], at);
        if (other != null && ProgressCounters.again(areas[peer], at) == found) {
            mismatched(peer, CallHeader.of(sequence, calls[line]), other);
        }
        return other == null;
    }

    private void mismatched(int peer, CallHeader expected, CallHeader found) {
        if (!mismatched) {
            mismatched = true;
            events.mismatched(peer, expected, found);
        }
    }

    boolean allEntered(CallHeader call) {
        while (come < worldSize) {
            if (!hasEntered(behind(come), call)) {
                return false;
            }
            come++;
        }
        return true;
    }

    /** Returns the same as {@link #allReached}, but skips ranks that stage nothing if {@code mayPass}. */
    boolean allStaged(int value, boolean mayPass) {
        while (come < worldSize) {
            if (!hasStaged(behind(come), value, mayPass)) {
                return false;
            }
            come++;
        }
        return true;
    }

    /** Returns the same as {@link #hasReached}, but skips a rank that stages nothing if {@code mayPass}. */
    boolean hasStaged(int peer, int value, boolean mayPass) {
        return mayPass && word(peer, SegmentLayout.OPERAND) != 0 || hasReached(peer, value);
    }

    boolean allReached(int value) {
        while (come < worldSize) {
            if (!hasReached(behind(come), value)) {
                return false;
            }
            come++;
        }
        return true;
    }

    boolean hasReached(int peer, int value) {
        return ProgressCounters.acquire(areas[peer], SegmentLayout.flag()) >= values + value;
    }

    /** Returns whether a rank has entered the same call as this rank. Reports a rank that is in another call. */
    boolean hasEntered(int peer, CallHeader call) {
        ByteBuffer area = areas[peer];
        int at = SegmentLayout.header(operations);
        long found = ProgressCounters.acquire(area, at);
        if (found < call.sequence()) {
            return false;
        }
        CallHeader other = WireHeader.other(call.sequence(), call.call(), found, area, at);
        if (other != null) {
            mismatched(peer, call, other);
            return false;
        }
        return hasCome(peer);
    }

    /** Records that a rank is in the current operation. Returns whether the rank entered all earlier operations too. */
    private boolean hasCome(int peer) {
        boolean same = known[peer] >= operations || follow(peer, operations);
        if (same) {
            known[peer] = operations + 1;
        }
        return same;
    }

    /** Returns the same as {@link #hasEntered}, but does not report a difference in the current call. */
    boolean hasEnteredQuietly(int peer, long sequence, CallHeader.Call common) {
        ByteBuffer area = areas[peer];
        int at = SegmentLayout.header(operations);
        long found = ProgressCounters.acquire(area, at);
        boolean isSame = found == sequence && WireHeader.other(sequence, common, found, area, at) == null;
        return isSame && hasCome(peer);
    }

    private int behind(int places) {
        int peer = rank + places;
        return peer < worldSize ? peer : peer - worldSize;
    }

    /** Returns whether a step waits for a rank. With {@code mayPass}, ranks that stage nothing are skipped. */
    boolean isAwaited(int peer, SharedMemoryProgram work, int step, CallHeader call, boolean mayPass) {
        long entered = ProgressCounters.acquire(areas[peer], SegmentLayout.header(operations));
        int value = work.value[step];
        boolean isMeant = work.peer[step] < 0 || work.peer[step] == peer;
        return isMeant
                && switch (work.kind[step]) {
                    case SharedMemoryProgram.GATE -> isBehind(peer, work);
                    case SharedMemoryProgram.AWAIT_ENTERED,
                            SharedMemoryProgram.AWAIT_ALL_ENTERED,
                            SharedMemoryProgram.CHOOSE -> entered < call.sequence();
                    case SharedMemoryProgram.AWAIT, SharedMemoryProgram.AWAIT_ALL, SharedMemoryProgram.AWAIT_READ ->
                        !hasReached(peer, value);
                    case SharedMemoryProgram.AWAIT_STAGED, SharedMemoryProgram.AWAIT_ALL_STAGED ->
                        !hasStaged(peer, value, mayPass);
                    default -> hasAbandoned(peer);
                };
    }
}
