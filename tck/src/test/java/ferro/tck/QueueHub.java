package ferro.tck;

import ferro.Backend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** An honest plain group in memory: one monitor, queues by sender, receiver and tag. */
class QueueHub {
    private final Map<List<Integer>, Deque<byte[]>> queues = new HashMap<>();
    private final Set<Integer> gone = new HashSet<>();
    private final int worldSize;
    private int waiting;
    private long turn;

    QueueHub(int worldSize) {
        this.worldSize = worldSize;
    }

    static List<Backend> group(int worldSize) {
        return new QueueHub(worldSize).ranks();
    }

    List<Backend> ranks() {
        List<Backend> ranks = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            ranks.add(new Rank(rank));
        }
        return ranks;
    }

    /** Which queue a message goes through; wrong back ends override it. */
    List<Integer> key(int from, int to, int tag) {
        return List.of(from, to, tag);
    }

    void add(Deque<byte[]> queue, byte[] message, int tag) {
        queue.add(message);
    }

    /** Puts a message where it was asked for; wrong back ends override it. */
    void deliver(byte[] message, ByteBuffer into, Where where) {
        if (message.length != into.remaining()) {
            throw new FerroException(
                    Code.MISMATCH, where, "a message of " + message.length + " bytes came for " + into.remaining());
        }
        into.put(message);
    }

    /** A rank has closed; wrong back ends override it. */
    void left(int rank, Map<List<Integer>, Deque<byte[]>> sent) {
        // what it has sent stays
    }

    private final class Rank implements Backend {
        private final int rank;

        Rank(int rank) {
            this.rank = rank;
        }

        @Override
        public int rank() {
            return rank;
        }

        @Override
        public int worldSize() {
            return worldSize;
        }

        @Override
        public void send(ByteBuffer message, int to, int tag, Duration timeout) {
            byte[] copy = new byte[message.remaining()];
            message.get(copy);
            synchronized (QueueHub.this) {
                add(queue(rank, to, tag), copy, tag);
                QueueHub.this.notifyAll();
            }
        }

        @Override
        public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
            Where where = Where.of("queues", rank).blaming(from);
            synchronized (QueueHub.this) {
                Deque<byte[]> queue = queue(from, rank, tag);
                await("rank " + from, () -> !queue.isEmpty() || gone.contains(from), timeout, where);
                if (queue.isEmpty()) {
                    throw new FerroException(Code.PEER_LOST, where, "rank " + from + " was closed");
                }
                deliver(queue.remove(), message, where);
            }
        }

        @Override
        public void barrier(Duration timeout) {
            synchronized (QueueHub.this) {
                long own = turn;
                if (++waiting == worldSize) {
                    waiting = 0;
                    turn++;
                    QueueHub.this.notifyAll();
                }
                await("a barrier", () -> turn > own, timeout, Where.of("queues", rank));
            }
        }

        @Override
        public void close() {
            synchronized (QueueHub.this) {
                gone.add(rank);
                left(rank, queues);
                QueueHub.this.notifyAll();
            }
        }

        private Deque<byte[]> queue(int from, int to, int tag) {
            return queues.computeIfAbsent(key(from, to, tag), key -> new ArrayDeque<>());
        }

        private void await(String what, BooleanSupplier done, Duration timeout, Where where) {
            long deadline = System.nanoTime() + timeout.toNanos();
            while (!done.getAsBoolean()) {
                long millis = (deadline - System.nanoTime()) / 1_000_000;
                if (gone.contains(rank)) {
                    throw new FerroException(Code.ABORTED, where, "rank " + rank + " was closed while it waited");
                }
                if (millis <= 0) {
                    String text = "rank " + rank + " gave up on " + what + " after " + timeout.toMillis() + " ms";
                    throw new FerroException(Code.TIMED_OUT, where, text);
                }
                try {
                    QueueHub.this.wait(millis);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw new FerroException(Code.INTERRUPTED, where, "rank " + rank + " was interrupted", interrupted);
                }
            }
        }
    }
}
