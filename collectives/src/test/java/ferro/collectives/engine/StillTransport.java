package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** A medium on which nothing ever comes, and where things go wrong when a test says so. */
public final class StillTransport extends IdleTransport {
    private final Trouble trouble;
    private final boolean isGroup;

    /** What goes wrong on a transport and those made of it, and what the group's own one was asked for. */
    public static final class Trouble {
        /** Once, when a link is asked how much has moved. */
        public boolean outOfMemory;
        /** When others than the group's own transport are to carry a control message. */
        public boolean refusesToTell;

        /** What the ranks share, if anything. */
        public SharedMemoryProvider memory;

        /** How many ranks there are. */
        public int worldSize = 2;

        /** How many bytes have moved on each link. */
        public volatile long bytesMoved;

        /** Whoever listens to the group's own transport. */
        public Events events;

        /** Sequence numbers of what was posted on links, in that order. */
        public final List<Long> sends = new CopyOnWriteArrayList<>();

        /** At every look for what has come. */
        public Runnable polled = () -> {};

        /** In place of a sleep until a time; without it a thread that would sleep fails. */
        public LongConsumer parked;

        /** Whether a virtual thread may sleep here. */
        public boolean parksVirtualThreads;

        /** At every wake-up. */
        public Runnable woken = () -> {};

        /** What the group has sent to its other rank. */
        public final Queue<ByteBuffer> sent = new ConcurrentLinkedQueue<>();

        /** At every message to the other rank, which may answer at once. */
        public Consumer<ByteBuffer> onControl = message -> {};

        public volatile int abandons;
        public int closes;
    }

    public StillTransport(Trouble trouble, boolean isGroup) {
        this.trouble = trouble;
        this.isGroup = isGroup;
    }

    @Override
    public int worldSize() {
        return trouble.worldSize;
    }

    @Override
    public Link link(int peer, Lane lane) {
        return new StillLink();
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return new StillTransport(trouble, false);
    }

    @Override
    public boolean poll() {
        trouble.polled.run();
        return false;
    }

    @Override
    public void park(long deadlineNanos) {
        if (trouble.parked == null) {
            throw new IllegalStateException("a stepped engine parks nobody, here until " + deadlineNanos);
        }
        trouble.parked.accept(deadlineNanos);
    }

    @Override
    public void wakeup() {
        trouble.woken.run();
    }

    @Override
    public boolean parksVirtualThreads() {
        return trouble.parksVirtualThreads;
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        if (trouble.refusesToTell && !isGroup) {
            throw new IllegalStateException("cannot tell rank " + peer + ", says the test");
        }
        if (isGroup) {
            trouble.sent.add(ByteBuffer.allocate(message.remaining())
                    .put(message.duplicate())
                    .flip());
            trouble.onControl.accept(message.duplicate());
        }
    }

    @Override
    public void events(Events events) {
        if (isGroup) {
            trouble.events = events;
        }
    }

    @Override
    public Optional<SharedMemoryProvider> sharedMemory() {
        return isGroup ? Optional.ofNullable(trouble.memory) : Optional.empty();
    }

    @Override
    public void abandon() {
        if (isGroup) {
            trouble.abandons++;
        }
    }

    @Override
    public void close() {
        if (isGroup) {
            trouble.closes++;
        }
    }

    private final class StillLink implements Link {
        @Override
        public void send(CallHeader call, HostTensor data, long offset, long count) {
            trouble.sends.add(call.sequence());
        }

        @Override
        public void receive(CallHeader call, HostTensor data, long offset, long count) {
            // nothing comes
        }

        @Override
        public void receiveCombine(CallHeader call, HostTensor data, long offset, long count, ReduceOp op) {
            // nothing comes
        }

        @Override
        public long sent() {
            return 0;
        }

        @Override
        public long received() {
            return 0;
        }

        @Override
        public long bytesMoved() {
            if (trouble.outOfMemory) {
                trouble.outOfMemory = false;
                throw new OutOfMemoryError("of the test");
            }
            return trouble.bytesMoved;
        }
    }
}
