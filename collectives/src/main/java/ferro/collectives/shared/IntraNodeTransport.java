package ferro.collectives.shared;

import ferro.FerroException;
import ferro.Medium;
import ferro.RankEnd;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A transport for groups in which some ranks are on one host. Links to ranks of the same host are rings in shared
 * memory. All other links, the control messages and the reports of lost ranks come from the wrapped medium. Before
 * {@link #meet}, all calls go to the wrapped medium.
 *
 * <p>A rank that waits sleeps in the wrapped medium. A rank wakes a sleeping peer after it has published data for the
 * peer in shared memory. The links wake their peers themselves. Other callers that publish data use {@link #wake}. The
 * wake-up is a doorbell of the wrapped medium, or a control message if the medium has no doorbell.
 */
public final class IntraNodeTransport implements Transport {
    /** The only byte of a control message that requests the receiver to poll. Messages of the engine are longer. */
    private static final byte WAKE = -2;

    /**
     * Longest sleep of a rank that other ranks wake through shared memory. {@link SleepingRanks} assumes that a write
     * reaches other ranks within some time. This limit ends a sleep even if the assumption of {@link SleepingRanks} is
     * wrong.
     */
    private static final long MAX_SLEEP_NANOS = 100_000_000L;

    private final Transport bare;
    private final GroupSpec group;
    private final LongSupplier clock;
    private volatile Events events;
    /** Segments of the ranks of this host; null before {@link #meet} and after the end. */
    private SharedMemory memory;

    /** Links in shared memory; null before {@link #meet} and after the end. Without links, calls access no segment. */
    private IntraNodeLinks near;

    private SleepingRanks sleepers;
    private boolean abandoned;
    private boolean closed;

    /**
     * Wraps a medium.
     *
     * @param bare  medium to wrap; closed with this transport
     * @param group group of the medium
     * @param clock clock of the context, in nanoseconds
     */
    public IntraNodeTransport(Transport bare, GroupSpec group, LongSupplier clock) {
        this.bare = bare;
        this.group = group;
        this.clock = clock;
    }

    /**
     * Uses shared memory for all links that are requested after this call. Only the thread that makes progress calls
     * this method.
     *
     * @param areas  segments of the ranks of this group; closed with this transport
     * @param layout layout of the segments, the same on all ranks
     * @param nearRanks ranks with which this rank shares memory, including this rank. The relation is symmetric: if
     *     rank a is in the set of rank b, rank b is in the set of rank a
     */
    public void meet(SharedMemory areas, SegmentLayout layout, BitSet nearRanks) {
        if (abandoned) {
            areas.close();
            return;
        }
        memory = areas;
        ByteBuffer[] reached = new ByteBuffer[worldSize()];
        for (int peer = 0; peer < reached.length; peer++) {
            reached[peer] = nearRanks.get(peer) ? areas.area(peer) : null;
        }
        sleepers = new SleepingRanks(rank(), layout.asleep(), reached, clock, this::doorbell);
        near = new IntraNodeLinks(group, layout, reached, sleepers, () -> events);
    }

    @Override
    public String machine(int rank) {
        return bare.machine(rank);
    }

    @Override
    public void whenEnded(int peer, Consumer<RankEnd> receiver) {
        bare.whenEnded(peer, receiver);
    }

    /**
     * Wakes a rank of the same host if that rank sleeps. The thread that makes progress calls this method after it has
     * published data for that rank in shared memory.
     *
     * @param peer rank to wake, another rank of the same host
     */
    public void wake(int peer) {
        if (near != null) {
            sleepers.wake(peer);
        }
    }

    /**
     * Returns whether a rank of the same host has sent data for which no receive is posted. Only the thread that makes
     * progress calls this method.
     *
     * @param peer rank of this group
     * @param lane lane of the link to {@code peer}
     * @return whether the peer has sent such data; always false if the link belongs to the wrapped medium
     */
    public boolean hasUnexpected(int peer, Lane lane) {
        return hasRing(peer) && near.hasUnexpected(peer, lane);
    }

    private boolean hasRing(int peer) {
        return near != null && near.hasRing(peer);
    }

    @Override
    public int rank() {
        return bare.rank();
    }

    @Override
    public int worldSize() {
        return bare.worldSize();
    }

    @Override
    public Link link(int peer, Lane lane) {
        return hasRing(peer) ? near.link(peer, lane) : bare.link(peer, lane);
    }

    @Override
    public boolean isOpenedBy(int peer, Lane lane) {
        return hasRing(peer) ? near.hasUnexpected(peer, lane) : bare.isOpenedBy(peer, lane);
    }

    @Override
    public Transport subgroup(int[] ranks, long identity) {
        return bare.subgroup(ranks, identity);
    }

    @Override
    public boolean poll() {
        if (near == null) {
            return bare.poll();
        }
        sleepers.looked();
        return near.poll() | bare.poll();
    }

    @Override
    public void park(long deadlineNanos) {
        if (near == null) {
            bare.park(deadlineNanos);
        } else if (sleepers.maySleep()) {
            long end = clock.getAsLong() + MAX_SLEEP_NANOS;
            bare.park(deadlineNanos - end < 0 ? deadlineNanos : end);
            sleepers.awake();
        } else {
            Thread.yield();
        }
    }

    @Override
    public void wakeup() {
        bare.wakeup();
    }

    @Override
    public boolean parksVirtualThreads() {
        return bare.parksVirtualThreads();
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        bare.control(peer, message);
    }

    @Override
    public boolean afterControl(int peer, Runnable task) {
        return bare.afterControl(peer, task);
    }

    @Override
    public void events(Events receiver) {
        events = receiver;
        bare.events(new WakeFilter(receiver));
    }

    @Override
    public void abandon() {
        abandoned = true;
        if (near != null) {
            near.drop();
        }
        bare.abandon();
    }

    @Override
    public boolean mayLose(int peer, Lane lane) {
        // data in a ring or a segment outlives its writer, because each rank has mapped the memory that it reads
        boolean inMemory = near != null && near.reaches(peer);
        return !inMemory && bare.mayLose(peer, lane);
    }

    @Override
    public boolean servesOthers() {
        return bare.servesOthers();
    }

    @Override
    public boolean leave() {
        abandoned = true;
        if (near != null) {
            near.drop();
            near = null;
        }
        try {
            return bare.leave();
        } finally {
            giveBackMemory();
        }
    }

    @Override
    public Optional<SharedMemoryProvider> sharedMemory() {
        return bare.sharedMemory();
    }

    @Override
    public String noSharedMemoryBecause() {
        return bare.noSharedMemoryBecause();
    }

    @Override
    public Medium medium() {
        return bare.medium();
    }

    @Override
    public void close() {
        close(bare::close);
    }

    @Override
    public void close(Duration within) {
        close(() -> bare.close(within));
    }

    private void close(Runnable closeBare) {
        if (closed) {
            return;
        }
        closed = true;
        try {
            abandon();
        } finally {
            near = null;
            try {
                closeBare.run();
            } finally {
                giveBackMemory();
            }
        }
    }

    private void giveBackMemory() {
        SharedMemory mine = memory;
        memory = null;
        if (mine != null) {
            mine.close();
        }
    }

    @Override
    public String toString() {
        return "IntraNodeTransport[" + bare + "]";
    }

    private void doorbell(int peer) {
        if (!bare.signal(peer)) {
            bare.control(peer, ByteBuffer.wrap(new byte[] {WAKE}));
        }
    }

    /** A receiver that forwards all events of the wrapped medium, but handles the messages that wake this rank. */
    private final class WakeFilter implements Events {
        private final Events receiver;

        WakeFilter(Events receiver) {
            this.receiver = receiver;
        }

        @Override
        public void cutOff(int peer, FerroException cause) {
            receiver.cutOff(peer, cause);
        }

        @Override
        public void closed(int peer, FerroException cause) {
            receiver.closed(peer, cause);
        }

        @Override
        public void lost(int peer, FerroException cause) {
            receiver.lost(peer, cause);
        }

        @Override
        public void broken(int peer, FerroException cause) {
            receiver.broken(peer, cause);
        }

        @Override
        public void mismatched(int peer, CallHeader expected, CallHeader found) {
            receiver.mismatched(peer, expected, found);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            if (message.remaining() == 1 && message.get(message.position()) == WAKE) {
                bare.wakeup();
            } else {
                receiver.control(peer, message);
            }
        }
    }
}
