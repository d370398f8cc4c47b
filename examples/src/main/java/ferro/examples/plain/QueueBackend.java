package ferro.examples.plain;

import ferro.Backend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.spi.Deadlines;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * A minimal back end. The ranks of this back end are threads of one JVM that pass copies of messages through queues.
 *
 * <p>A send never waits, because its queue keeps a copy. The back end has no control lane, and therefore no subgroups
 * and no abort across ranks. A rank that gives up closes its back end. Peers notice the close when they need the closed
 * rank. Any thread may call any method.
 */
public final class QueueBackend implements Backend {
    /** Tag of the barrier. Tags of the engine count down from -1, tags of users count up from 0. */
    private static final int BARRIER_TAG = Integer.MIN_VALUE;

    private final SharedQueues hub;
    private final int rank;

    /** The state that the ranks share. The monitor of this object guards the state. */
    private record SharedQueues(Map<QueueRoute, Queue<byte[]>> queues, boolean[] closed) {
        Queue<byte[]> queue(int from, int to, int tag) {
            return queues.computeIfAbsent(new QueueRoute(from, to, tag), route -> new ArrayDeque<>());
        }
    }

    private record QueueRoute(int from, int to, int tag) {}

    private QueueBackend(SharedQueues hub, int rank) {
        this.hub = hub;
        this.rank = rank;
    }

    /**
     * Creates the back ends of one group.
     *
     * @param worldSize number of ranks, at least 1
     * @return back ends in rank order
     * @throws IllegalArgumentException if {@code worldSize} is below 1
     */
    public static List<QueueBackend> createGroup(int worldSize) {
        if (worldSize < 1) {
            throw new IllegalArgumentException("a group needs at least 1 rank, found " + worldSize);
        }
        SharedQueues hub = new SharedQueues(new HashMap<>(), new boolean[worldSize]);
        return IntStream.range(0, worldSize)
                .mapToObj(rank -> new QueueBackend(hub, rank))
                .toList();
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return hub.closed.length;
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        InvalidRankException.check(to, worldSize());
        synchronized (hub) {
            await("send to rank " + to + " tag " + tag, to, timeout, () -> !hub.closed[to]);
            byte[] copy = new byte[message.remaining()];
            message.get(copy);
            hub.queue(rank, to, tag).add(copy);
            hub.notifyAll();
        }
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        InvalidRankException.check(from, worldSize());
        String call = "recv from rank " + from + " tag " + tag;
        synchronized (hub) {
            Queue<byte[]> queue = hub.queue(from, rank, tag);
            await(call, from, timeout, () -> !queue.isEmpty());
            byte[] next = queue.remove();
            if (next.length != message.remaining()) {
                String lengths = "the message has " + next.length + " bytes, need " + message.remaining();
                throw failure(Code.MISMATCH, call, from, lengths, null);
            }
            message.put(next);
        }
    }

    /**
     * Runs a dissemination barrier (Hensgen, Finkel and Manber 1988). After round k, counted from 1, a rank knows that
     * the 2^k - 1 ranks before it have called.
     */
    @Override
    public void barrier(Duration timeout) {
        long deadline = System.nanoTime() + Deadlines.nanos(timeout);
        for (int distance = 1; distance < worldSize(); distance *= 2) {
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            send(ByteBuffer.allocate(0), (rank + distance) % worldSize(), BARRIER_TAG, left);
            recv(ByteBuffer.allocate(0), (rank + worldSize() - distance) % worldSize(), BARRIER_TAG, left);
        }
    }

    @Override
    public void close() {
        synchronized (hub) {
            hub.closed[rank] = true;
            hub.notifyAll();
        }
    }

    /** Waits for a condition. The caller holds the hub's monitor. The close of a rank or the deadline ends the wait. */
    private void await(String call, int peer, Duration timeout, BooleanSupplier done) {
        long deadline = System.nanoTime() + Deadlines.nanos(timeout);
        while (hub.closed[rank] || !done.getAsBoolean()) {
            if (hub.closed[rank]) {
                throw failure(Code.ABORTED, call, rank, "this rank is closed", null);
            }
            if (hub.closed[peer]) {
                throw failure(Code.PEER_LOST, call, peer, "rank " + peer + " has left", null);
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                String late = "gave up on rank " + peer + " after " + Deadlines.millis(timeout) + " ms";
                throw failure(Code.TIMED_OUT, call, peer, late, null);
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(hub, left);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw failure(Code.INTERRUPTED, call, rank, "the waiting thread was interrupted", interrupted);
            }
        }
    }

    private FerroException failure(Code code, String call, int culprit, String why, Exception cause) {
        Where where = Where.of("queues", rank).blaming(culprit);
        return new FerroException(code, where, call + " on group \"queues\" rank " + rank + ": " + why, cause);
    }
}
