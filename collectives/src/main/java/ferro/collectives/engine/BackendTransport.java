package ferro.collectives.engine;

import ferro.Backend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.spi.CallHeader;
import ferro.spi.Deadlines;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ObjIntConsumer;

/**
 * A plain back end as a medium. One thread runs the posted sends in order, and another thread runs the receives,
 * because a send or receive may wait for the peer. A plain back end has no control lane, so control messages are
 * dropped. To give up, the engine closes the back end.
 */
final class BackendTransport implements Transport {
    /**
     * Longest search for a peer with a different call, after the deadline. A call with a short timeout has a shorter
     * search.
     */
    private static final long SEARCH_NANOS = 2_000_000_000L;

    private static final int SEARCH_PART = 4;
    /** Time from the report of a different call to the end of the search, when the call times out. */
    private static final long REPORT_NANOS = 200_000_000L;

    private final Backend plain;
    private final BackendLink[] links;
    private final BlockingWorker sender;
    private final BlockingWorker receiver;
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock receiving = new ReentrantLock();
    private volatile Events events;
    private volatile Thread parked;
    private volatile boolean woken;
    private volatile long finished;
    private long seen;
    private volatile boolean abandoned;
    /** End of the search for a different call; 0 before. Only the thread that makes progress sets this field. */
    private long searchedUntilNanos;

    /** Whether the search has begun. The call can then only fail, because the search may take headers of the call. */
    private volatile boolean isSearching;

    private volatile boolean hasSearched;

    BackendTransport(Backend plain) {
        this.plain = plain;
        this.links = new BackendLink[plain.worldSize()];
        String name = "ferro-" + plain.getClass().getSimpleName() + "-" + plain.rank();
        this.sender = new BlockingWorker(name + "-send", this::failed);
        this.receiver = new BlockingWorker(name + "-recv", this::failed);
    }

    @Override
    public int rank() {
        return plain.rank();
    }

    @Override
    public int worldSize() {
        return plain.worldSize();
    }

    @Override
    public Link link(int peer, Lane lane) {
        if (lane == Lane.POINT_TO_POINT) {
            throw new UnsupportedOperationException(
                    "a plain back end sends point-to-point messages itself, also to rank " + peer);
        }
        if (links[peer] == null) {
            links[peer] = new BackendLink(this, peer);
        }
        return links[peer];
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        throw new UnsupportedOperationException(
                "a plain back end has no subgroups, asked for one of " + ranks.length + " ranks");
    }

    @Override
    public boolean poll() {
        long now = finished;
        boolean moved = now != seen;
        seen = now;
        return moved;
    }

    @Override
    public void park(long deadlineNanos) {
        parked = Thread.currentThread();
        try {
            if (finished == seen && !woken) {
                LockSupport.parkNanos(this, Math.max(1, deadlineNanos - System.nanoTime()));
            }
        } finally {
            parked = null;
            woken = false;
        }
    }

    @Override
    public void wakeup() {
        woken = true;
        LockSupport.unpark(parked);
    }

    @Override
    public boolean parksVirtualThreads() {
        return true;
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        // without a control lane, the closed back end shows the failure to the other ranks
    }

    @Override
    public void events(Events receiverOfEvents) {
        events = receiverOfEvents;
    }

    @Override
    public void abandon() {
        if (!abandoned) {
            abandoned = true;
            sender.stop();
            receiver.stop();
            plain.close();
            sender.join();
            receiver.join();
        }
    }

    @Override
    public void close() {
        abandon();
    }

    /**
     * Checks once, at a deadline, whether a peer makes another call. Two ranks that both wait in their sends do not
     * receive each other's header. So the search receives the header of each peer in turn, beginning with the peer to
     * which this rank sends.
     *
     * @param timeoutNanos timeout of the call in nanoseconds; the search takes at most a quarter of the timeout
     * @return whether the search is over or impossible; the search is impossible if this rank is not in a send, or if
     *     this rank is in a receive
     */
    boolean hasCompared(long timeoutNanos) {
        if (searchedUntilNanos == 0) {
            int peer = sender.peerInCall();
            boolean mayWaitForEachOther = peer >= 0 && receiver.isIdle();
            synchronized (this) {
                if (mayWaitForEachOther && !links[peer].isSending()) {
                    // the send has just ended, so the call may go on
                    return false;
                }
                isSearching = mayWaitForEachOther;
            }
            hasSearched = !isSearching;
            searchedUntilNanos = System.nanoTime() + Math.min(SEARCH_NANOS, timeoutNanos / SEARCH_PART);
            if (isSearching) {
                CallHeader call = links[peer].sending();
                receive(peer, () -> search(call, peer));
            }
        }
        return hasSearched || System.nanoTime() - searchedUntilNanos >= 0;
    }

    private void search(CallHeader call, int first) {
        try {
            boolean differs = search(links[first], call);
            for (int peer = 0; peer < worldSize() && !differs && !abandoned; peer++) {
                if (peer != rank() && peer != first) {
                    // only the thread that makes progress may change the array of links
                    differs = search(links[peer] == null ? new BackendLink(this, peer) : links[peer], call);
                }
            }
        } finally {
            hasSearched = true;
            wakeup();
        }
    }

    /**
     * Fails the group before the end of the search if the peer of a link makes another call. Returns whether this peer
     * makes another call.
     */
    private boolean search(BackendLink link, CallHeader call) {
        FerroException differs;
        try {
            differs = link.find(call);
        } catch (RuntimeException | Error nothing) {
            // the peer has sent nothing or another message, and the deadline has passed in any case
            return false;
        }
        if (differs != null) {
            if (sender.peerInCall() == link.peer()) {
                link.awaitTaken(call, searchedUntilNanos - REPORT_NANOS);
            }
            failed(differs, link.peer());
        }
        return differs != null;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    Backend plain() {
        return plain;
    }

    void send(int peer, Runnable task) {
        sender.add(peer, () -> locked(sending, task));
    }

    void receive(int peer, Runnable task) {
        receiver.add(peer, () -> locked(receiving, task));
    }

    /** Runs a send of a user. The contract allows one send at a time, including the sends of collectives. */
    void whileNothingIsSent(Duration timeout, Runnable call) {
        exclusively(sending, "send", timeout, call);
    }

    /** Runs a receive of a user. The contract allows one receive at a time, including the receives of collectives. */
    void whileNothingIsReceived(Duration timeout, Runnable call) {
        exclusively(receiving, "recv", timeout, call);
    }

    private void exclusively(ReentrantLock lock, String what, Duration timeout, Runnable call) {
        Where where = Where.of(plain.getClass().getSimpleName(), plain.rank());
        try {
            if (!lock.tryLock(Deadlines.nanos(timeout), TimeUnit.NANOSECONDS)) {
                throw new FerroException(
                        Code.TIMED_OUT,
                        where,
                        what + " on rank " + plain.rank() + " waited " + Deadlines.millis(timeout)
                                + " ms behind a collective: a plain back end moves one message at a time");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED, where, what + " on rank " + plain.rank() + " was interrupted", interrupted);
        }
        try {
            call.run();
        } finally {
            lock.unlock();
        }
    }

    private static void locked(ReentrantLock lock, Runnable call) {
        lock.lock();
        try {
            call.run();
        } finally {
            lock.unlock();
        }
    }

    boolean isSearching() {
        return isSearching;
    }

    /** Counts a finished post and wakes the thread that makes progress, unless a search has begun. */
    synchronized void finishOne(Runnable count) {
        if (!isSearching) {
            count.run();
            finished++;
            wakeup();
        }
    }

    /** Returns the bytes of a tensor: a view of the memory if the tensor is in one buffer, else a copy. */
    ByteBuffer bytesOf(HostTensor tensor) {
        if (tensor.byteCount() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a message of " + tensor.byteCount() + " bytes on the plain back end "
                    + plain.getClass().getSimpleName() + ", which takes at most " + Integer.MAX_VALUE + ": send parts");
        }
        if (tensor.isDirect() && !TensorMemory.hasParts(tensor)) {
            return tensor.buffer();
        }
        ByteBuffer copy = BackendLink.direct(tensor.byteCount());
        HostTensor.of(tensor.dataType(), copy).copyFrom(0, tensor, 0, tensor.elementCount());
        return copy;
    }

    private void failed(Throwable failure, int peer) {
        if (abandoned) {
            return;
        }
        FerroException cause = failure instanceof FerroException known
                ? known
                : new FerroException(
                        failure instanceof OutOfMemoryError ? Code.RESOURCE : Code.ABORTED,
                        Where.of(plain.getClass().getSimpleName(), plain.rank()),
                        "the plain back end failed with rank " + peer + ": " + failure,
                        failure);
        events.lost(peer, cause);
        wakeup();
    }

    /** A thread that runs blocking calls of a plain back end one after the other. The first call starts the thread. */
    static final class BlockingWorker {
        private static final long JOIN_MILLIS = 5000;

        private final String name;
        private final ObjIntConsumer<Throwable> trouble;
        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private volatile boolean stopped;
        /** Peer of the running call; -1 if no call runs. */
        private volatile int peerInCall = -1;

        private Thread thread;

        /** Creates a worker. {@code trouble} receives the failure of a call and the peer of the call. */
        BlockingWorker(String name, ObjIntConsumer<Throwable> trouble) {
            this.name = name;
            this.trouble = trouble;
        }

        synchronized void add(int peer, Runnable call) {
            tasks.add(() -> {
                peerInCall = peer;
                call.run();
            });
            if (thread == null && !stopped) {
                thread = new Thread(this::work, name);
                thread.setDaemon(true);
                thread.start();
            }
        }

        int peerInCall() {
            return peerInCall;
        }

        boolean isIdle() {
            return peerInCall < 0 && tasks.isEmpty();
        }

        synchronized void stop() {
            stopped = true;
            if (thread != null) {
                thread.interrupt();
            }
        }

        /** Waits for a bounded time until no call is in flight, so that no call accesses posted memory. */
        void join() {
            Thread running;
            synchronized (this) {
                running = thread;
            }
            if (running == null || running == Thread.currentThread()) {
                return;
            }
            boolean interrupted = Thread.interrupted();
            try {
                running.join(JOIN_MILLIS);
            } catch (InterruptedException again) {
                interrupted = true;
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        private void work() {
            while (!stopped) {
                try {
                    tasks.take().run();
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                    return;
                } catch (RuntimeException | Error failure) {
                    trouble.accept(failure, peerInCall);
                    return;
                } finally {
                    peerInCall = -1;
                }
            }
        }
    }
}
