package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Detects launchers that are gone or silent. The launcher of node 0 watches all others, and they watch it. A connection that
 * ends tells at once. If no connection ends, heartbeats tell: each launcher increments a counter, and the store has to
 * answer.
 */
final class NodeWatch {
    static final Duration LONGEST_BEAT = Duration.ofMillis(500);
    private static final int BEATS_IN_SILENCE = 5;

    private final Store store;
    private final NodeCard own;
    private final List<NodeCard> cards;
    private final Keys keys;
    private final long silenceNanos;
    private final Consumer<LostNode> lost;
    private final Map<Integer, LastBeat> heard = new HashMap<>();
    private final CompletableFuture<byte[]> connection;
    private long lookedNanos = System.nanoTime();

    /** A heartbeat, and when it was first seen. */
    private record LastBeat(String beat, long atNanos) {}

    /**
     * Starts the watch.
     *
     * @param store   of node 0
     * @param cards   own first, then those of all nodes by number, and the keys of heartbeats
     * @param silence after which a launcher is lost
     * @param thread  thread for heartbeats; no other task may block it
     * @param lost    told of each lost launcher, perhaps more than once
     */
    NodeWatch(Store store, Cards cards, Duration silence, ScheduledExecutorService thread, Consumer<LostNode> lost) {
        this.store = store;
        this.own = cards.own();
        this.cards = cards.all();
        this.keys = cards.keys();
        this.silenceNanos = silence.toNanos();
        this.lost = lost;
        this.connection =
                store.when(LauncherStore.goneKey(own.node(), own.session())).toCompletableFuture();
        if (own.node() == 0) {
            others().forEach(this::awaitEnd);
        } else {
            connection.whenComplete((never, ended) -> ended());
        }
        long millis = Math.max(1, Math.min(LONGEST_BEAT.toMillis(), silence.toMillis() / BEATS_IN_SILENCE));
        thread.scheduleWithFixedDelay(this::beat, millis, millis, TimeUnit.MILLISECONDS);
    }

    /**
     * All launchers.
     *
     * @param own card of this launcher
     * @param all cards of all launchers, by number of the node
     * @param keys keys of the generation
     */
    record Cards(NodeCard own, List<NodeCard> all, Keys keys) {}

    private List<NodeCard> others() {
        return cards.stream().filter(card -> card.node() != own.node()).toList();
    }

    private void awaitEnd(NodeCard other) {
        store.when(LauncherStore.goneKey(other.node(), other.session()))
                .thenRun(() -> lost.accept(new LostNode(other, "the connection of its launcher has ended")));
    }

    private void ended() {
        lost.accept(new LostNode(cards.get(0), "the connection to its launcher has ended"));
    }

    private void beat() {
        try {
            store.add(keys.beat(own.node()), 1);
            if (own.node() == 0) {
                listen();
            }
        } catch (FerroException unanswered) {
            if (own.node() != 0 && !connection.isDone()) {
                lost.accept(new LostNode(cards.get(0), silent(silenceNanos)));
            }
        } catch (IllegalStateException closed) {
            // this launcher has ended the connection: the watch is over
            return;
        }
    }

    private void listen() {
        long now = System.nanoTime();
        // if this process was itself halted, silence of the others is no reason to blame them
        boolean stoodStill = now - lookedNanos > silenceNanos / 2;
        lookedNanos = now;
        for (NodeCard other : others()) {
            String beat = new String(store.get(keys.beat(other.node()), Duration.ofNanos(silenceNanos)));
            LastBeat last = heard.get(other.node());
            if (last == null || stoodStill || !last.beat.equals(beat)) {
                heard.put(other.node(), new LastBeat(beat, now));
            } else if (now - last.atNanos > silenceNanos) {
                lost.accept(new LostNode(other, silent(now - last.atNanos)));
            }
        }
    }

    private static String silent(long nanos) {
        return String.format(
                Locale.ROOT,
                "its launcher sent nothing for %.1f s: the network is cut, or the machine is down or suspended",
                nanos / 1e9);
    }
}
