package ferro.backend.tcp.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Connections without sockets, under a virtual clock, in an order drawn from a seed: what is written arrives in pieces of any
 * size, each after a time of its own, in order; a connection may be cut after any byte. One thread.
 */
final class SeededNet {
    private static final long NEAR_NANOS = 200_000;
    private static final long FAR_NANOS = 100_000_000;
    private static final int FAR_ONE_IN = 12;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    final SplittableRandom random;
    private final PriorityQueue<Entry> events = new PriorityQueue<>();
    private final List<End> ends = new ArrayList<>();
    private long now;
    private long added;
    private long steps;
    private long hash;

    /** Something that will happen. */
    private record Entry(long at, long number, Runnable task) implements Comparable<Entry> {
        @Override
        public int compareTo(Entry other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(number, other.number);
        }
    }

    SeededNet(long seed) {
        // no part of the hash: traces differ by what happens, or not at all
        random = new SplittableRandom(seed);
    }

    long now() {
        return now;
    }

    /** Returns how many things have happened: a clock that never stands still. */
    long steps() {
        return steps;
    }

    long hash() {
        return hash;
    }

    List<End> ends() {
        return ends;
    }

    void later(long nanos, Runnable task) {
        events.add(new Entry(now + nanos, added++, task));
    }

    private long delay() {
        return 1 + random.nextLong(random.nextInt(FAR_ONE_IN) == 0 ? FAR_NANOS : NEAR_NANOS);
    }

    /** Runs until nothing is left to happen, or the time is over. */
    void run(long untilNanos) {
        while (!events.isEmpty() && events.peek().at <= untilNanos) {
            Entry next = events.remove();
            now = next.at;
            steps++;
            trace(next.at);
            next.task.run();
        }
    }

    private void trace(long fact) {
        hash = Long.rotateLeft((hash ^ fact) * MIX, 29);
    }

    /** Makes both ends of a connection, which is cut after so many bytes of both directions; negative for never. */
    End[] connect(int cutAfterBytes) {
        Cut cut = new Cut(cutAfterBytes);
        End one = new End(this, cut);
        End other = new End(this, cut);
        one.peer = other;
        other.peer = one;
        cut.ends = new End[] {one, other};
        for (End end : cut.ends) {
            ends.add(end);
            // what a loop would do at the end of a handshake's time
            later((TcpListener.HANDSHAKE_MILLIS + 1) * 1_000_000, end::settle);
        }
        return cut.ends;
    }

    /** When a connection breaks. */
    private static final class Cut {
        private final boolean drawn;
        private int left;
        private End[] ends;

        Cut(int bytes) {
            drawn = bytes >= 0;
            left = bytes;
        }

        boolean isDone() {
            return drawn && left <= 0;
        }
    }

    /** One end of a connection: reads only what its reader asks for, as a socket does. */
    static final class End extends EmbeddedChannel {
        private SeededNet net;
        private Cut cut;
        private final Deque<byte[]> inbox = new ArrayDeque<>();
        private End peer;
        private long arrives;
        private long clock;
        private boolean wanted;
        private boolean over;
        private boolean told;
        private boolean settling;

        End(SeededNet net, Cut cut) {
            config().setAutoRead(false);
            config().setRecvByteBufAllocator(new SwitchableReadAllocator(ExactReader.nothing()));
            freezeTime();
            this.net = net;
            this.cut = cut;
            this.clock = net.now;
        }

        @Override
        protected void doBeginRead() {
            wanted = true;
        }

        boolean wasCut() {
            return cut.isDone();
        }

        /** Does what its loop would do now. */
        void settle() {
            if (settling) {
                return;
            }
            settling = true;
            advanceTimeBy(net.now - clock, java.util.concurrent.TimeUnit.NANOSECONDS);
            clock = net.now;
            runScheduledPendingTasks();
            boolean moved = true;
            while (moved) {
                runPendingTasks();
                moved = flushOut() | take();
            }
            settling = false;
            if (!isOpen() && !told) {
                told = true;
                arrive(() -> peer.over = true);
            }
        }

        private boolean flushOut() {
            boolean moved = false;
            for (ByteBuf out = readOutbound(); out != null; out = readOutbound()) {
                byte[] bytes = new byte[out.readableBytes()];
                out.readBytes(bytes);
                out.release();
                leave(bytes);
                moved = true;
            }
            return moved;
        }

        private void leave(byte[] bytes) {
            int from = 0;
            while (from < bytes.length && !cut.isDone()) {
                int rest = bytes.length - from;
                int piece = net.random.nextInt(3) == 0 ? 1 + net.random.nextInt(rest) : rest;
                piece = cut.drawn ? Math.min(piece, cut.left) : piece;
                byte[] part = Arrays.copyOfRange(bytes, from, from + piece);
                arrive(() -> peer.inbox.add(part));
                from += piece;
                cut.left -= piece;
                if (cut.isDone()) {
                    for (End end : cut.ends) {
                        net.later(net.delay(), end::breakOff);
                    }
                }
            }
        }

        private void arrive(Runnable what) {
            arrives = Math.max(arrives + 1, net.now + net.delay());
            net.later(arrives - net.now, () -> {
                what.run();
                peer.settle();
            });
        }

        private void breakOff() {
            inbox.clear();
            over = true;
            close();
            settle();
        }

        private boolean take() {
            if (!wanted || !isOpen()) {
                return false;
            }
            byte[] first = inbox.peek();
            if (first == null) {
                if (over) {
                    close();
                }
                return over;
            }
            int wish = config().<SwitchableReadAllocator>getRecvByteBufAllocator()
                    .newHandle()
                    .guess();
            if (wish == 0) {
                return false;
            }
            inbox.remove();
            int taken = Math.min(wish, first.length);
            if (taken < first.length) {
                inbox.addFirst(Arrays.copyOfRange(first, taken, first.length));
            }
            wanted = false;
            net.trace(taken);
            pipeline().fireChannelRead(Unpooled.copiedBuffer(first, 0, taken));
            pipeline().fireChannelReadComplete();
            return true;
        }
    }
}
