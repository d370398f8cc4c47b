package ferro.backend.simulated;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * A medium for ranks that all run on one thread. Each item between two ranks arrives after a delay that is drawn from
 * the seed. Items on one link arrive in order, unless a fault prevents their arrival.
 */
final class SeededMedium implements SimulatedMedium {
    private static final long POSTED = 1L << 56;
    private static final long CONSUMED = 2L << 56;
    private static final long CONTROL = 3L << 56;
    /** Number of control messages that arrive a second time when a connection was replaced too early. */
    private static final int REMEMBERED = 4;
    /** Time after which all ranks with a connection to a dead rank have been notified of the death. */
    private static final long DEATH_NANOS = 95_000_000;

    private final EventQueue events;
    private final IntFunction<WakeSignal> doorbells;
    private final int worldSize;
    /** Delay lines of control messages, by pair of ranks. A delay line is created when the pair first needs it. */
    private final Map<Long, DelayLine> controls = new HashMap<>();

    private final Set<Long> cut = new HashSet<>();
    private final Map<Long, Deque<Runnable>> remembered = new HashMap<>();
    /** The delay lines of posts and acknowledgements between all pairs of ranks. */
    private final List<DelayLine> ways = new ArrayList<>();

    private final List<LinkQueue> channels = new ArrayList<>();

    SeededMedium(EventQueue events, int worldSize, IntFunction<WakeSignal> doorbells) {
        this.events = events;
        this.doorbells = doorbells;
        this.worldSize = worldSize;
    }

    private long pair(int from, int to) {
        return (long) from * worldSize + to;
    }

    private DelayLine control(int from, int to) {
        return controls.computeIfAbsent(pair(from, to), pair -> new DelayLine(pair, from, to));
    }

    @Override
    public void made(LinkQueue channel) {
        channel.posts = way(channel.from(), channel.to());
        channel.acknowledgements = way(channel.to(), channel.from());
        channels.add(channel);
    }

    private DelayLine way(int from, int to) {
        DelayLine way = new DelayLine(ways.size(), from, to);
        if (cut.contains(pair(from, to))) {
            way.cut();
        }
        ways.add(way);
        return way;
    }

    private void travel(DelayLine way, long kind, Runnable task) {
        if (way.isCut()) {
            return;
        }
        long departure = way.departs();
        events.add(way.next(events), way.to(), kind | way.number(), () -> {
            if (way.delivers(departure, events.elapsed())) {
                task.run();
            }
        });
    }

    @Override
    public void posted(LinkQueue channel, long count) {
        travel(channel.posts, POSTED, () -> channel.publish(count));
    }

    @Override
    public void consumed(LinkQueue channel, long count, boolean awaited) {
        travel(channel.acknowledgements, CONSUMED, () -> channel.acknowledge(count, awaited));
    }

    @Override
    public void later(int from, int to, Runnable task) {
        DelayLine way = control(from, to);
        travel(way, CONTROL, task);
        if (from != to && !way.isCut()) {
            remember(pair(from, to), task);
        }
    }

    private void remember(long pair, Runnable task) {
        Deque<Runnable> last = remembered.computeIfAbsent(pair, key -> new ArrayDeque<>(REMEMBERED));
        if (last.size() == REMEMBERED) {
            last.remove();
        }
        last.add(task);
    }

    @Override
    public void afterPosts(LinkQueue channel, Runnable task) {
        // same kind as the posts: events that wait for a paused rank keep their order by kind and delay line
        travel(channel.posts, POSTED, task);
    }

    @Override
    public void died(int rank) {
        for (int to = 0; to < worldSize; to++) {
            // some ranks receive more last messages of the dead rank than others; the order of the notices is random
            long kept = events.draw(2) == 0 ? DEATH_NANOS : events.delay();
            long silent = events.draw(2) == 0 ? 0 : events.draw(DEATH_NANOS);
            control(rank, to).lose(events.elapsed(), kept, silent);
        }
    }

    /** Drops every item from one rank to another rank after this call. */
    void cut(int from, int to) {
        cut.add(pair(from, to));
        control(from, to).cut();
        for (DelayLine way : ways) {
            if (way.from() == from && way.to() == to) {
                way.cut();
            }
        }
    }

    /** Breaks the data links between two ranks. Each of the two ranks is notified after a separate delay. */
    void drop(int one, int other) {
        String why = "broke the link";
        for (LinkQueue channel : List.copyOf(channels)) {
            if (Math.min(channel.from(), channel.to()) == Math.min(one, other)
                    && Math.max(channel.from(), channel.to()) == Math.max(one, other)) {
                tellAndCut(channel.posts, POSTED, () -> channel.senderGone(why));
                tellAndCut(channel.acknowledgements, CONSUMED, () -> channel.receiverGone(why));
            }
        }
    }

    /** Loses the items in flight on a delay line. The last item that arrives is the notice of the end. */
    private void tellAndCut(DelayLine way, long kind, Runnable end) {
        if (!way.isCut()) {
            way.lose(events.elapsed(), 0, events.delay());
            events.add(way.next(events), way.to(), kind | way.number(), end);
            way.cut();
        }
    }

    /** Delivers the last control messages of one rank to another rank a second time. */
    void duplicate(int from, int to) {
        Deque<Runnable> last = remembered.get(pair(from, to));
        if (last != null) {
            last.forEach(task -> travel(control(from, to), CONTROL, task));
        }
    }

    @Override
    public WakeSignal doorbell(int rank) {
        return doorbells.apply(rank);
    }

    /** Returns how many delay lines between ranks were created; for tests. */
    int waysMade() {
        return controls.size() + ways.size();
    }
}
