package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.membership.Membership;
import ferro.control.membership.MembershipMessage;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import ferro.spi.ProcessTable;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The memberships of a few ranks on one thread. The test controls the clock, and any rank can stand still. */
public final class Watchers {
    private static final long STEP_NANOS = 1_000_000L;

    public final List<Rank> ranks = new ArrayList<>();
    /** The number of times that each message arrives. A medium may repeat a message that may have been lost. */
    int copies = 1;
    /** The name of the machine of each rank; empty if the machines are unknown. */
    String[] machines = {};

    private final Map<String, String> settings;
    private final IntFunction<ProcessTable> host;
    private long now;

    public Watchers(int worldSize, long startNanos, Map<String, String> settings) {
        this(worldSize, startNanos, settings, rank -> ProcessTable.NONE);
    }

    Watchers(int worldSize, long startNanos, Map<String, String> settings, IntFunction<ProcessTable> host) {
        this.host = host;
        this.now = startNanos;
        this.settings = settings;
        for (int rank = 0; rank < worldSize; rank++) {
            ranks.add(new Rank(rank, worldSize));
        }
    }

    /** Lets all ranks enter the joined group. */
    public Watchers enter() {
        ranks.forEach(Rank::enter);
        return this;
    }

    /** Advances the clock. Each rank that does not stand still reads messages and runs timers every millisecond. */
    public void pass(Duration time) {
        for (long end = now + time.toNanos(); now - end < 0; ) {
            now += STEP_NANOS;
            ranks.stream().filter(rank -> !rank.paused).forEach(Rank::step);
        }
    }

    long now() {
        return now;
    }

    /** A rank with its context, its medium and a group that records its notifications. */
    public final class Rank implements NothingShared, ControlLane, Membership.RankListener {
        final Membership membership;
        public final List<String> heard = new ArrayList<>();
        final List<String> logged = new ArrayList<>();
        final List<FerroException> peerFailures = new ArrayList<>();
        final ManualTimers timers = new ManualTimers(() -> now);
        final Queue<Runnable> inbox = new ArrayDeque<>();
        public final Set<Integer> cutTo = new HashSet<>();
        final int rank;
        boolean paused;
        boolean timersFirst;
        boolean reads = true;
        /** Whether the medium of the rank reports when messages have been read. */
        boolean tellsOfReads;
        /** Whether the rank runs out of memory when it sends a message. */
        boolean exhausted;

        int heartbeats;
        int sent;
        int losses;
        int lanes;
        private final int worldSize;
        private PeerEvents events;

        Rank(int rank, int worldSize) {
            this.rank = rank;
            this.worldSize = worldSize;
            GroupSpec spec = GroupSpec.of("world", rank, worldSize, Duration.ofSeconds(60));
            membership = Membership.watching(this, spec, this, 7);
        }

        void enter() {
            membership.enter(this, IntStream.range(0, worldSize).toArray());
        }

        private void step() {
            if (timersFirst) {
                timers.runDue();
            }
            for (Runnable next = read(); next != null; next = read()) {
                next.run();
            }
            timers.runDue();
        }

        private Runnable read() {
            return reads ? inbox.poll() : null;
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            if (exhausted) {
                throw new OutOfMemoryError("no room to send to rank " + peer);
            }
            byte[] bytes = new byte[message.remaining()];
            message.get(bytes);
            sent++;
            losses += isLoss(bytes) ? 1 : 0;
            for (int copy = 0; copy < copies && !cutTo.contains(peer); copy++) {
                Rank to = ranks.get(peer);
                to.inbox.add(() -> {
                    if (to.events instanceof Deaf) {
                        inbox.add(() -> events.closed(
                                peer, new FerroException(Code.PEER_LOST, Where.of("world", rank), "closed")));
                    } else {
                        to.events.control(rank, ByteBuffer.wrap(bytes));
                    }
                });
            }
        }

        private boolean isLoss(byte[] bytes) {
            try {
                return MembershipMessage.decode(ByteBuffer.wrap(bytes), worldSize)
                        instanceof MembershipMessage.LossReport;
            } catch (IllegalArgumentException nonsenseOfATest) {
                return false;
            }
        }

        @Override
        public boolean afterControl(int peer, Runnable task) {
            return tellsOfReads && inbox.add(task);
        }

        @Override
        public void events(PeerEvents receiver) {
            events = receiver;
        }

        /** Lets the medium report to the membership that the connection to a rank has ended. */
        void connectionLost(int peer, FerroException cause) {
            events.lost(peer, cause);
        }

        @Override
        public ControlLane subgroup(int[] members, long group) {
            lanes++;
            return this;
        }

        @Override
        public void close() {
            lanes--;
            events = new Deaf();
        }

        @Override
        public void gone(int peer, FerroException cause) {
            heard.add("lost " + peer);
            peerFailures.add(cause);
        }

        @Override
        public void event(GroupEvent.Kind kind, int peer, String text) {
            heard.add(kind + " " + peer + ": " + text);
        }

        @Override
        public void log(GroupEvent.Kind kind, int peer, String text) {
            logged.add(kind + " " + peer + ": " + text);
        }

        @Override
        public void heartbeat() {
            heartbeats++;
        }

        @Override
        public Optional<String> setting(String name) {
            return Optional.ofNullable(settings.get(name));
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public ScheduledExecutorService background() {
            return timers;
        }

        @Override
        public ProcessTable processes() {
            return host.apply(rank);
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
        public String machine(int peer) {
            return machines.length == 0 ? "" : machines[peer];
        }

        @Override
        public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
            return make.get();
        }
    }

    /** The receiver of a closed lane, which ignores late messages. */
    private static final class Deaf implements ControlLane.PeerEvents {
        @Override
        public void lost(int peer, FerroException cause) {
            // closed
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            // closed
        }
    }
}
