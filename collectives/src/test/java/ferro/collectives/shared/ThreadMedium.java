package ferro.collectives.shared;

import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.LockSupport;

/**
 * A bare medium for threads that has control messages and sleep, and refuses links: whatever moves, moves in shared memory.
 * A sleep lasts until it is ended, or a minute: a lost wake-up is seen.
 */
final class ThreadMedium implements Transport {
    private static final long MINUTE_NANOS = 12_000_000_000L;

    private final int rank;
    private final ThreadMedium[] all;
    private final ExecutorService background;
    private final Map<Long, ThreadMedium[]> others = new ConcurrentHashMap<>();
    private final List<Runnable> unheard = new ArrayList<>();
    private final ConcurrentLinkedQueue<Thread> sleeping = new ConcurrentLinkedQueue<>();
    private volatile boolean woken;
    private volatile Events events;
    /** Whether ranks ring; else they have control messages only. */
    volatile boolean hasBells;

    volatile int controlMessages;
    /** Sleeps that were longer than any answer takes. */
    volatile int longSleeps;

    private ThreadMedium(int rank, ThreadMedium[] all, ExecutorService background) {
        this.rank = rank;
        this.all = all;
        this.background = background;
    }

    static ThreadMedium[] group(int worldSize, ExecutorService background) {
        ThreadMedium[] all = new ThreadMedium[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            all[rank] = new ThreadMedium(rank, all, background);
        }
        return all;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return all.length;
    }

    @Override
    public Link link(int peer, Lane lane) {
        throw new IllegalStateException("rank " + rank + " asked for a bare link to rank " + peer + ", which is near");
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        if (ranks.length != all.length) {
            throw new IllegalStateException("rank " + rank + " has no group of " + ranks.length + " ranks");
        }
        return all[0].others.computeIfAbsent(group, made -> group(all.length, background))[rank];
    }

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public void park(long deadlineNanos) {
        long begun = System.nanoTime();
        sleeping.add(Thread.currentThread());
        while (!woken && !Thread.currentThread().isInterrupted() && System.nanoTime() - begun < MINUTE_NANOS) {
            LockSupport.parkNanos(this, MINUTE_NANOS);
        }
        woken = false;
        sleeping.remove(Thread.currentThread());
        if (System.nanoTime() - begun > MINUTE_NANOS / 6) {
            longSleeps++;
        }
    }

    @Override
    public void wakeup() {
        woken = true;
        sleeping.forEach(LockSupport::unpark);
    }

    @Override
    public boolean signal(int peer) {
        if (hasBells) {
            all[peer].wakeup();
        }
        return hasBells;
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        controlMessages++;
        ByteBuffer copy = ByteBuffer.allocate(message.remaining()).put(message.duplicate());
        background.execute(() -> all[peer].tell(rank, copy.flip()));
    }

    private synchronized void tell(int from, ByteBuffer message) {
        if (events == null) {
            unheard.add(() -> events.control(from, message));
        } else {
            events.control(from, message);
        }
    }

    @Override
    public synchronized void events(Events receiver) {
        events = receiver;
        unheard.forEach(background::execute);
    }

    @Override
    public void abandon() {
        // there are no links
    }

    @Override
    public void close() {
        // nothing is held
    }
}
