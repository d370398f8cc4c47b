package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/**
 * Reads and publishes the progress of the ranks: operations entered, by headers, and steps done, by flags, in the segment
 * of each rank. It counts what this rank has finished, and from that it knows what the words of the others mean for the
 * operation under way. Used by the thread that makes progress.
 */
final class SharedStanding {
    private final int rank;
    private final int worldSize;
    private final ByteBuffer[] areas;
    private final ByteBuffer own;
    private final Transport.Events events;
    private final IntConsumer wake;
    /** One more than the number of awaited ranks that have come, counted from the rank after this one. */
    private int come = 1;

    private boolean mismatched;
    /** Of the finished operations: their number, sequence and call of the last one, and chunks and flag values of all. */
    private long operations;

    private long sequenceBefore;
    private CallHeader.Call callBefore;
    private long chunks;
    private long values;

    SharedStanding(SharedMachine.SegmentView place) {
        this.rank = place.rank();
        this.areas = place.areas().clone();
        this.own = areas[rank];
        this.worldSize = areas.length;
        this.events = place.events();
        this.wake = place.wake();
    }

    /** Notes that an operation is finished. */
    void finished(Program work, long sequence, CallHeader.Call common) {
        operations++;
        sequenceBefore = sequence;
        callBefore = common;
        chunks += work.chunks;
        values += work.values;
    }

    /** Returns the number of chunks of all finished operations. */
    long chunks() {
        return chunks;
    }

    /** Returns which of the two header lines belongs to the operation under way, or to the next one. */
    int parity() {
        return (int) operations & 1;
    }

    boolean isMismatched() {
        return mismatched;
    }

    /** Resets the count of ranks that have come: the wait has ended, or another one begins. */
    void waitAnew() {
        come = 1;
    }

    /** Publishes that this rank has entered, and that the data it has staged is there. */
    void enter(long sequence, CallHeader.Call common) {
        int at = SegmentLayout.header(parity());
        WireHeader.putRest(common, own, at);
        ProgressWords.release(own, at, sequence);
        wakeAll();
    }

    /** Writes into the header that is to be entered where this rank's tensor lies. */
    void tensorIn(long number, long start) {
        own.putLong(SegmentLayout.tensor(parity()), number);
        own.putLong(SegmentLayout.tensorStart(parity()), start);
    }

    /** Returns the number of the shared memory that holds the tensor of a rank that has entered; 0 for none. */
    long tensor(int peer) {
        return areas[peer].getLong(SegmentLayout.tensor(parity()));
    }

    long tensorStart(int peer) {
        return areas[peer].getLong(SegmentLayout.tensorStart(parity()));
    }

    void publish(int value) {
        ProgressWords.release(own, SegmentLayout.flag(), values + value);
        wakeAll();
    }

    private void wakeAll() {
        for (int peer = 0; peer < worldSize; peer++) {
            if (peer != rank) {
                wake.accept(peer);
            }
        }
    }

    /** Returns whether all ranks have entered the operation before, which must be the same on all of them. */
    boolean allBegan() {
        while (callBefore != null && come < worldSize) {
            if (!isIn(behind(come), parity() ^ 1, sequenceBefore, callBefore)) {
                return false;
            }
            come++;
        }
        return true;
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

    /**
     * Returns whether all ranks have entered and staged. A rank whose tensor is shared enters before it has staged
     * anything, and publishes by its flag when it has.
     */
    boolean allStaged(CallHeader call, int value) {
        while (come < worldSize) {
            if (!hasEntered(behind(come), call) || !hasStaged(behind(come), value)) {
                return false;
            }
            come++;
        }
        return true;
    }

    private boolean hasStaged(int peer, int value) {
        return tensor(peer) == 0 || hasReached(peer, value);
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
        return ProgressWords.acquire(areas[peer], SegmentLayout.flag()) >= values + value;
    }

    /** Returns whether a rank has entered this call too; reports a rank that is in another call in its place. */
    boolean hasEntered(int peer, CallHeader call) {
        return isIn(peer, parity(), call.sequence(), call.call());
    }

    /** As {@link #hasEntered}, but sends no event. */
    boolean isThere(int peer, long sequence, CallHeader.Call common) {
        ByteBuffer area = areas[peer];
        int at = SegmentLayout.header(parity());
        long found = ProgressWords.acquire(area, at);
        return found == sequence && WireHeader.other(sequence, common, found, area, at) == null;
    }

    private boolean isIn(int peer, int parity, long sequence, CallHeader.Call common) {
        ByteBuffer area = areas[peer];
        int at = SegmentLayout.header(parity);
        long found = ProgressWords.acquire(area, at);
        if (found < sequence) {
            return false;
        }
        CallHeader other = WireHeader.other(sequence, common, found, area, at);
        if (other == null) {
            return true;
        }
        if (!mismatched) {
            mismatched = true;
            events.mismatched(peer, CallHeader.of(sequence, common), other);
        }
        return false;
    }

    private int behind(int places) {
        int peer = rank + places;
        return peer < worldSize ? peer : peer - worldSize;
    }

    /** Returns whether a step of a program waits for a rank. */
    boolean isAwaited(int peer, Program work, int step, CallHeader call) {
        long entered = ProgressWords.acquire(areas[peer], SegmentLayout.header(parity()));
        int value = work.value[step];
        boolean isOut = entered < call.sequence();
        return switch (work.kind[step]) {
            case Program.GATE ->
                ProgressWords.acquire(areas[peer], SegmentLayout.header(parity() ^ 1)) < sequenceBefore;
            case Program.AWAIT_ENTERED -> peer == work.peer[step] && isOut;
            case Program.AWAIT_ALL_ENTERED, Program.CHOOSE -> isOut;
            case Program.AWAIT_ALL_STAGED -> isOut || !hasStaged(peer, value);
            case Program.AWAIT -> peer == work.peer[step] && !hasReached(peer, value);
            case Program.AWAIT_ALL -> !hasReached(peer, value);
            default -> false;
        };
    }
}
