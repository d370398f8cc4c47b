package ferro.backend.nccl.queue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The operations and raw calls of one rank that have not ended, in the order of submission. Thread-safe. */
final class PendingWorks {
    private final ArrayDeque<NcclWork> works = new ArrayDeque<>();
    private final List<NativeOperation> reachable = new ArrayList<>();
    /** Streams that have raw calls and have not been synchronized after these calls. */
    private final Set<Long> rawStreams = ConcurrentHashMap.newKeySet();

    private volatile NcclOperation lastRaw = NcclOperation.PREPARE;
    private volatile long lastEnded;

    synchronized void add(NcclWork work) {
        works.add(work);
    }

    /** Returns the oldest operation that has not ended, for which the ranks wait now; null if there is none. */
    synchronized NcclWork oldest() {
        while (!works.isEmpty() && works.peek().isDone()) {
            works.poll();
        }
        return works.peek();
    }

    synchronized List<NcclWork> all() {
        return new ArrayList<>(works);
    }

    /**
     * Returns the operation with the earliest deadline, if it is queued behind the oldest operation; otherwise null.
     */
    synchronized NcclWork firstBehind(NcclWork oldest) {
        NcclWork first = oldest;
        for (NcclWork work : works) {
            if (!work.isDone() && work.deadline().endNanos() - first.deadline().endNanos() < 0) {
                first = work;
            }
        }
        return first == oldest ? null : first;
    }

    synchronized void ended(NcclWork work) {
        if (works.peek() == work) {
            works.poll();
        } else {
            works.remove(work);
        }
        if (!work.title().isMessage() && !work.hasFailed()) {
            lastEnded = Math.max(lastEnded, work.sequence());
        }
        notifyAll();
    }

    /** Returns the number of the last collective that has succeeded, 0 before the first. */
    long lastEnded() {
        return lastEnded;
    }

    /** Waits until all operations have ended, or until a deadline. An interrupt does not end the wait. */
    void await(Deadline bound) {
        bound.awaitQuietly(this::await);
    }

    private synchronized boolean await(long time, TimeUnit unit) throws InterruptedException {
        if (oldest() != null) {
            unit.timedWait(this, time);
        }
        return oldest() == null;
    }

    /** Keeps the resources of an abandoned operation reachable, because the device may still use them. */
    synchronized void keepReachable(NativeOperation job) {
        reachable.add(job);
    }

    synchronized boolean hasAbandoned() {
        return !reachable.isEmpty();
    }

    /** Records a raw call. Returns whether the call is the first on its stream since the stream was synchronized. */
    boolean rawCall(NcclOperation operation, long stream) {
        lastRaw = operation;
        return rawStreams.add(stream);
    }

    void rawPassed(long stream) {
        rawStreams.remove(stream);
    }

    boolean hasRawCalls() {
        return !rawStreams.isEmpty();
    }

    NcclOperation lastRaw() {
        return lastRaw;
    }

    /**
     * Returns the operation that the message of an asynchronous failure names: the oldest operation, or else the last
     * raw call.
     */
    NcclOperation lastOperation() {
        NcclWork oldest = oldest();
        return oldest == null ? lastRaw : oldest.title().operation();
    }
}
