package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.control.failure.RankProcesses;
import ferro.control.wire.RankSetFormat;
import ferro.recorder.ThreadStack;
import ferro.spi.CallHeader;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Ranks that have only a control lane. The test controls the clock, the timers and every message. In real time,
 * messages arrive at once on the thread of the sender.
 */
public final class HandDriven {
    /** The entry among the messages that reports that a rank has closed the group. */
    private static final ByteBuffer CLOSED = ByteBuffer.allocate(0);

    public final List<GroupControl> ranks = new ArrayList<>();
    public final List<List<GroupEvent>> events = new ArrayList<>();
    /** The lost ranks of each rank at the time at which its owner is notified of the failure. */
    final List<Set<Integer>> lostAtFailure = new ArrayList<>();

    /** The threads of each rank that are in calls. */
    final List<List<Thread>> callers = new ArrayList<>();
    /** The stacks that each rank has recorded, with the reason and the locations of its threads. */
    final List<List<String>> recorded = new ArrayList<>();

    final int[] failures;
    /** The pause of each process in nanoseconds, for any start time. */
    long pausedNanos;
    /** The number of times that each rank was woken because a rank has left. */
    final int[] wakeUps;

    final RankStatus[] statuses;
    final long[] ended;
    /** The number of sent messages of each type. */
    private final Map<Class<? extends ControlMessage>, Integer> sent = new HashMap<>();

    /** The number of messages that each rank has sent. */
    final int[] sentBy;

    /** Messages in flight, by lane. A lane without messages has no entry. */
    private final SortedMap<Integer, Deque<ByteBuffer>> lanes = new TreeMap<>();

    private final boolean[] closed;
    private final boolean[] stopped;
    private final boolean[] still;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(Timer::at));
    private final int worldSize;
    private final int maxMesh;
    /** The context in real time; null if the test controls the clock. */
    private final RankContext realTime;

    private long nanos = 1_000_000_000L;

    private record Timer(long at, int rank, Runnable task) {}

    public HandDriven(int worldSize) {
        this(worldSize, FailurePolicy.SHIPPED);
    }

    /** Runs a trial for each seed from 0. A failure names its seed. */
    static void seeds(int count, IntConsumer trial) {
        for (int seed = 0; seed < count; seed++) {
            try {
                trial.accept(seed);
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
            }
        }
    }

    HandDriven(int worldSize, FailurePolicy rules) {
        this(worldSize, rules, RankProcesses.UNKNOWN);
    }

    HandDriven(int worldSize, FailurePolicy rules, RankProcesses processes) {
        this(worldSize, rules, processes, null, Overlay.MAX_MESH);
    }

    /** Creates a group that is a full mesh only if it has at most {@code maxMesh} ranks. */
    static HandDriven withMesh(int worldSize, int maxMesh, FailurePolicy rules) {
        return withMesh(worldSize, maxMesh, rules, RankProcesses.UNKNOWN);
    }

    /** Creates ranks that may share processes. The group is a full mesh only up to {@code maxMesh} ranks. */
    static HandDriven withMesh(int worldSize, int maxMesh, FailurePolicy rules, RankProcesses processes) {
        return new HandDriven(worldSize, rules, processes, null, maxMesh);
    }

    /** Creates ranks whose messages arrive at once. */
    static HandDriven inRealTime(int worldSize, RankContext context) {
        return new HandDriven(worldSize, FailurePolicy.SHIPPED, RankProcesses.UNKNOWN, context, Overlay.MAX_MESH);
    }

    private HandDriven(int worldSize, FailurePolicy rules, RankProcesses processes, RankContext realTime, int maxMesh) {
        this.worldSize = worldSize;
        this.maxMesh = maxMesh;
        this.sentBy = new int[worldSize];
        this.closed = new boolean[worldSize];
        this.realTime = realTime;
        this.failures = new int[worldSize];
        this.wakeUps = new int[worldSize];
        this.statuses = new RankStatus[worldSize];
        this.ended = new long[worldSize];
        this.stopped = new boolean[worldSize];
        this.still = new boolean[worldSize];
        int[] all = IntStream.range(0, worldSize).toArray();
        for (int rank = 0; rank < worldSize; rank++) {
            statuses[rank] = RankStatus.IDLE;
            events.add(new CopyOnWriteArrayList<>());
            callers.add(new ArrayList<>());
            recorded.add(new ArrayList<>());
            lostAtFailure.add(Set.of());
            GroupSpec spec = GroupSpec.of("dp", rank, worldSize, Duration.ofSeconds(5));
            ranks.add(new GroupControl(
                    new Lane(rank),
                    spec,
                    realTime == null ? new Hands(rank) : realTime,
                    new Hears(rank, rules),
                    new JoinedGroupView(all, new RankStatuses(), processes)));
            ranks.get(rank).open();
        }
    }

    public long nanoTime() {
        return nanos;
    }

    /** Returns the number of messages of a type that all ranks have sent. */
    int sent(Class<? extends ControlMessage> type) {
        return sent.getOrDefault(type, 0);
    }

    /** Lets the medium of a rank report that other ranks are gone. */
    void lost(int survivor, int... gone) {
        for (int rank : gone) {
            Where where = Where.of("dp", survivor).blaming(rank).during("", 1);
            ranks.get(survivor).lost(rank, new FerroException(Code.PEER_LOST, where, "rank " + rank + " is gone"));
        }
    }

    /** Returns the failure of the group on one rank, for example PEER_LOST of 2,3: rank 2 is gone. */
    String story(int rank) {
        Failure failure = ranks.get(rank).failure();
        return failure.code() + " of " + RankSetFormat.list(failure.culprits()) + ": " + failure.text();
    }

    /** Ends a rank. The messages that it has sent still arrive, but it does nothing more. */
    void stop(int rank) {
        stopped[rank] = true;
    }

    /** Closes the group on a rank, as a medium does after a leave. The sender of a message to the rank is notified. */
    void close(int rank) {
        closed[rank] = true;
    }

    /** Lets a rank leave after its last collective, a barrier, or before its first one. Delivers all messages. */
    void leave(int rank, long sequence) {
        if (sequence > 0) {
            ranks.get(rank).called(sequence, new CallHeader.Call(9, 77, "barrier"));
        }
        ended[rank] = sequence;
        ranks.get(rank).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        deliverAll();
    }

    /** Lets a rank report that another one has been silent for too long. */
    void silent(int observer, int rank) {
        Where where = Where.of("dp", observer).blaming(rank);
        FerroException cause = new FerroException(Code.PARTITION, where, "nothing heard for 30 s");
        ranks.get(observer).silent(rank, RankProcesses.UNKNOWN.sharing(rank), cause);
    }

    /** Lets a rank stand still or continue. Messages to it wait meanwhile; in real time they are lost. */
    void standStill(int rank, boolean stands) {
        still[rank] = stands;
    }

    /** Advances the clock and runs timers that are due. Delivers no message. */
    public void pass(Duration time) {
        long until = nanos + time.toNanos();
        while (!timers.isEmpty() && timers.peek().at <= until) {
            Timer timer = timers.poll();
            nanos = Math.max(nanos, timer.at);
            if (!stopped[timer.rank]) {
                timer.task.run();
            }
        }
        nanos = until;
    }

    /** Delivers all messages in a random order that each lane keeps, and some of them twice if {@code twice}. */
    void deliverAll(Random random, boolean twice) {
        for (List<Integer> busy = busy(); !busy.isEmpty(); busy = busy()) {
            int lane = busy.get(random.nextInt(busy.size()));
            ByteBuffer message = next(lane);
            deliver(lane, message);
            if (twice && random.nextBoolean()) {
                deliver(lane, message);
            }
        }
    }

    /** Delivers {@code count} messages in a random order that each lane keeps. */
    void deliver(Random random, int count) {
        for (int i = 0; i < count && !busy().isEmpty(); i++) {
            List<Integer> busy = busy();
            int lane = busy.get(random.nextInt(busy.size()));
            deliver(lane, next(lane));
        }
    }

    /** Delivers all messages, one message of each lane in turn, for groups of many ranks. */
    void deliverInTurn() {
        for (List<Integer> busy = busy(); !busy.isEmpty(); busy = busy()) {
            busy.forEach(lane -> deliver(lane, next(lane)));
        }
    }

    private ByteBuffer next(int lane) {
        Deque<ByteBuffer> waiting = lanes.get(lane);
        ByteBuffer message = waiting.remove();
        if (waiting.isEmpty()) {
            lanes.remove(lane);
        }
        return message;
    }

    private void send(int lane, ByteBuffer message) {
        lanes.computeIfAbsent(lane, none -> new ArrayDeque<>()).add(message);
    }

    /** Delivers all messages. */
    public void deliverAll() {
        deliverAll(new Random(1), false);
    }

    /** Drops the messages in flight from one rank to another. */
    void drop(int from, int to) {
        lanes.remove(from * worldSize + to);
    }

    private List<Integer> busy() {
        return lanes.keySet().stream().filter(lane -> !still[lane % worldSize]).toList();
    }

    private void deliver(int lane, ByteBuffer message) {
        int from = lane / worldSize;
        int to = lane % worldSize;
        if (stopped[to]) {
            return;
        }
        if (message == CLOSED) {
            Where where = Where.of("dp", to).blaming(from);
            ranks.get(to).closed(from, new FerroException(Code.PEER_LOST, where, "rank " + from + " has closed"));
        } else if (closed[to]) {
            send(to * worldSize + from, CLOSED);
        } else {
            ranks.get(to).control(from, message.duplicate());
        }
    }

    final class Hears implements ControlledGroup {
        private final int rank;
        private final FailurePolicy rules;

        Hears(int rank, FailurePolicy rules) {
            this.rank = rank;
            this.rules = rules;
        }

        @Override
        public void failed() {
            failures[rank]++;
            lostAtFailure.set(rank, ranks.get(rank).lostRanks());
        }

        @Override
        public void left() {
            wakeUps[rank]++;
        }

        @Override
        public void event(GroupEvent event) {
            events.get(rank).add(event);
        }

        @Override
        public void log(GroupEvent event) {
            // the tests check only the events
        }

        @Override
        public RankStatus status() {
            return statuses[rank];
        }

        @Override
        public List<Thread> callers() {
            return callers.get(rank);
        }

        @Override
        public void record(String reason, List<ThreadStack> stacks) {
            String known = ranks.get(rank).failure() == null ? "" : ", callers know";
            stacks.forEach(stack -> recorded.get(rank).add(reason + ": " + stack.location() + known));
        }

        @Override
        public long ended() {
            return ended[rank];
        }

        @Override
        public long pausedSince(long sinceNanos) {
            return pausedNanos;
        }

        @Override
        public FailurePolicy rules() {
            return rules;
        }

        @Override
        public int maxMesh() {
            return maxMesh;
        }
    }

    private final class Lane implements ControlLane {
        private final int rank;

        Lane(int rank) {
            this.rank = rank;
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            if (!stopped[rank]) {
                byte[] copy = new byte[message.remaining()];
                message.get(copy);
                sentBy[rank]++;
                if (realTime == null) {
                    sent.merge(
                            ControlMessage.decode(ByteBuffer.wrap(copy), worldSize)
                                    .getClass(),
                            1,
                            Integer::sum);
                    send(rank * worldSize + Objects.checkIndex(peer, worldSize), ByteBuffer.wrap(copy));
                } else if (!still[peer]) {
                    deliver(rank * worldSize + peer, ByteBuffer.wrap(copy));
                }
            }
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
        public ControlLane subgroup(int[] members, long group) {
            throw new UnsupportedOperationException("no groups, asked for " + group);
        }

        @Override
        public void events(PeerEvents receiver) {
            // the test calls the control itself
        }

        @Override
        public void close() {
            // a lane of this kind holds nothing
        }
    }

    /** A context that has only a clock and timers. */
    private final class Hands implements NothingShared {
        private final int rank;

        Hands(int rank) {
            this.rank = rank;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public ScheduledExecutorService background() {
            return (ScheduledExecutorService) Proxy.newProxyInstance(
                    HandDriven.class.getClassLoader(),
                    new Class<?>[] {ScheduledExecutorService.class},
                    (proxy, method, given) -> {
                        if (!method.getName().equals("schedule")) {
                            throw new UnsupportedOperationException(method.getName() + " by hand");
                        }
                        long delay = ((TimeUnit) given[2]).toNanos((long) given[1]);
                        timers.add(new Timer(nanos + delay, rank, (Runnable) given[0]));
                        return null;
                    });
        }
    }
}
