package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/**
 * How far the ranks are, as each tells in its area: operations entered, by headers, and steps done, by flags. Counts what this
 * rank has finished, by which it knows what the others tell of the operation under way. Belongs to whoever drives.
 */
final class SharedStanding {
    private final int rank;
    private final int worldSize;
    private final ByteBuffer[] areas;
    private final ByteBuffer own;
    private final Transport.Events events;
    private final IntConsumer wake;
    /** How many of those that are waited for have come, counted from the rank behind this one, and one. */
    private int come = 1;

    private boolean mismatched;
    /** Of the operations that are finished: how many, number and call of the last, chunks and values of flags of all. */
    private long operations;

    private long sequenceBefore;
    private CallHeader.Call callBefore;
    private long chunks;
    private long values;

    SharedStanding(SharedMachine.Place place) {
        this.rank = place.rank();
        this.areas = place.areas().clone();
        this.own = areas[rank];
        this.worldSize = areas.length;
        this.events = place.events();
        this.wake = place.wake();
    }

    /** Takes note that an operation is finished. */
    void finished(Program work, long sequence, CallHeader.Call common) {
        operations++;
        sequenceBefore = sequence;
        callBefore = common;
        chunks += work.chunks;
        values += work.values;
    }

    /** Returns how many chunks there were in the operations before. */
    long chunks() {
        return chunks;
    }

    /** Returns which of the two header lines is that of the operation under way, or of the next. */
    int parity() {
        return (int) operations & 1;
    }

    boolean isMismatched() {
        return mismatched;
    }

    /** Forgets who has come to what is waited for: it has ended, or something else is waited for. */
    void waitAnew() {
        come = 1;
    }

    /** Tells the others that this rank has entered, and that what it has staged is there. */
    void enter(long sequence, CallHeader.Call common) {
        int at = AreaLayout.header(parity());
        WireHeader.putRest(common, own, at);
        Words.release(own, at, sequence);
        wakeAll();
    }

    /** Tells in the header that is to be entered where this rank's tensor lies. */
    void tensorIn(long number, long start) {
        own.putLong(AreaLayout.tensor(parity()), number);
        own.putLong(AreaLayout.tensorStart(parity()), start);
    }

    /** Returns the number of the shared memory that the tensor of a rank that has entered lies in; 0 for none. */
    long tensor(int peer) {
        return areas[peer].getLong(AreaLayout.tensor(parity()));
    }

    long tensorStart(int peer) {
        return areas[peer].getLong(AreaLayout.tensorStart(parity()));
    }

    void publish(int value) {
        Words.release(own, AreaLayout.flag(), values + value);
        wakeAll();
    }

    private void wakeAll() {
        for (int peer = 0; peer < worldSize; peer++) {
            if (peer != rank) {
                wake.accept(peer);
            }
        }
    }

    /** Returns whether all ranks have entered the operation before, which must be the same for all. */
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

    /** A rank that has entered without having staged anything, since its tensor is shared, tells by its flag when it has. */
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
        return Words.acquire(areas[peer], AreaLayout.flag()) >= values + value;
    }

    /** Returns whether a rank is in this call too; one that is in another call in its place is told of. */
    boolean hasEntered(int peer, CallHeader call) {
        return isIn(peer, parity(), call.sequence(), call.call());
    }

    /** As {@link #hasEntered}, and tells nobody. */
    boolean isThere(int peer, long sequence, CallHeader.Call common) {
        ByteBuffer area = areas[peer];
        int at = AreaLayout.header(parity());
        long found = Words.acquire(area, at);
        return found == sequence && WireHeader.other(sequence, common, found, area, at) == null;
    }

    private boolean isIn(int peer, int parity, long sequence, CallHeader.Call common) {
        ByteBuffer area = areas[peer];
        int at = AreaLayout.header(parity);
        long found = Words.acquire(area, at);
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
        long entered = Words.acquire(areas[peer], AreaLayout.header(parity()));
        int value = work.value[step];
        boolean isOut = entered < call.sequence();
        return switch (work.kind[step]) {
            case Program.GATE -> Words.acquire(areas[peer], AreaLayout.header(parity() ^ 1)) < sequenceBefore;
            case Program.AWAIT_ENTERED -> peer == work.peer[step] && isOut;
            case Program.AWAIT_ALL_ENTERED, Program.CHOOSE -> isOut;
            case Program.AWAIT_ALL_STAGED -> isOut || !hasStaged(peer, value);
            case Program.AWAIT -> peer == work.peer[step] && !hasReached(peer, value);
            case Program.AWAIT_ALL -> !hasReached(peer, value);
            default -> false;
        };
    }
}
