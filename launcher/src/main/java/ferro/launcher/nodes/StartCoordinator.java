package ferro.launcher.nodes;

import ferro.Store;
import ferro.backend.tcp.store.LauncherClient;
import ferro.backend.tcp.store.LauncherClient.RefusedProcess;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The decision of node 0 whether the ranks start. The ranks start when the launchers of all nodes have connected and
 * their options agree. The wait ends for all launchers at the first difference, at a wrong secret or at the timeout.
 * Before the first start, the wait also ends when a launcher leaves. Only the methods {@link #missing} and {@link
 * #known} are thread-safe.
 */
final class StartCoordinator {
    private static final int BAD_INPUT = 2;
    private static final int FAILED = 1;

    private final Store store;
    private final LauncherEntry own;
    private final ScheduledExecutorService thread;
    private final WaitListener waiting;
    private final StoreKeys keys;
    private final Map<Integer, LauncherEntry> entries = new TreeMap<>();
    /** A text about the last refused process, which may have been a missing node; empty if none was refused. */
    private String lastRefused = "";
    /** Numbers of nodes that refused launchers of another job have claimed. */
    private final Set<Integer> refusedNodes = new HashSet<>();
    /** Whether ranks may not start yet, because the time of the hold is not over. */
    private boolean held;

    private boolean begun;

    StartCoordinator(
            Store store, LauncherEntry own, ScheduledExecutorService thread, WaitListener waiting, StoreKeys keys) {
        this.store = store;
        this.own = own;
        this.thread = thread;
        this.waiting = waiting;
        this.keys = keys;
        entries.put(own.node(), own);
    }

    /**
     * Starts to wait for the other launchers. Does not block.
     *
     * @param holdMillis    time that passes before ranks may start
     * @param timeoutMillis time after {@code holdMillis} in which the other launchers have to connect
     */
    void call(long holdMillis, long timeoutMillis) {
        held = holdMillis > 0;
        for (int node : others()) {
            await(node);
            store.when(LauncherClient.refusedKey(node))
                    .thenAcceptAsync(value -> unproved(node, RefusedProcess.decoded(value)), thread);
            store.when(LauncherClient.otherJobKey(node))
                    .thenAcceptAsync(value -> otherJob(node, RefusedProcess.decoded(value)), thread);
        }
        store.when(LauncherClient.STRANGER)
                .thenAcceptAsync(value -> stranger("a process", RefusedProcess.decoded(value)), thread);
        if (held) {
            thread.schedule(this::release, holdMillis, TimeUnit.MILLISECONDS);
        }
        thread.schedule(() -> late(timeoutMillis), holdMillis + timeoutMillis, TimeUnit.MILLISECONDS);
    }

    private void await(int node) {
        store.when(keys.card(node)).thenAcceptAsync(json -> came(StoreKeys.decoded(json, LauncherEntry.class)), thread);
    }

    private void release() {
        held = false;
        beginIfComplete();
    }

    private void beginIfComplete() {
        if (!held && !begun && missing().isEmpty()) {
            begun = true;
            StoreKeys.first(store, keys.start(), StoreKeys.encoded(StartDecision.of(known())));
        }
    }

    /** Returns the nodes that have not connected yet. */
    synchronized SortedSet<Integer> missing() {
        SortedSet<Integer> missing = new TreeSet<>(others());
        missing.removeAll(entries.keySet());
        return missing;
    }

    /** Returns the entries of this launcher and of all launchers that have connected. */
    synchronized List<LauncherEntry> known() {
        return List.copyOf(entries.values());
    }

    private List<Integer> others() {
        return IntStream.range(1, own.nodes()).boxed().toList();
    }

    /**
     * Records a launcher that has connected. The entry is stored before a possible refusal of the launcher, because
     * node 0 serves the store until all recorded launchers have read the reason.
     */
    private void came(LauncherEntry entry) {
        synchronized (this) {
            entries.put(entry.node(), entry);
        }
        own.difference(entry).ifPresent(text -> refuse(text, BAD_INPUT));
        store.when(LauncherClient.goneKey(entry.node(), entry.session())).thenRunAsync(() -> left(entry), thread);
        beginIfComplete();
    }

    /** Ends the job if a launcher leaves before the first start. Later, another launcher may replace that launcher. */
    private void left(LauncherEntry entry) {
        if (keys.generation() == 0) {
            refuse(entry + " disconnected before a rank was started", FAILED);
        } else if (!begun) {
            synchronized (this) {
                entries.remove(entry.node());
            }
            store.delete(keys.card(entry.node()));
            await(entry.node());
        }
    }

    private void unproved(int node, RefusedProcess refused) {
        if (missing().contains(node)) {
            refuse(
                    "the secret of node " + node + " (" + refused.address() + ") differs from the secret of " + own
                            + ": the file of --secret-file must have the same content on all nodes",
                    BAD_INPUT);
        }
    }

    private void otherJob(int node, RefusedProcess refused) {
        refusedNodes.add(node);
        stranger("a launcher of node " + node, refused);
    }

    /** Records and reports a refused process. The job continues, as the process may belong to another job. */
    private void stranger(String who, RefusedProcess refused) {
        SortedSet<Integer> missing = missing();
        if (!missing.isEmpty()) {
            lastRefused = own + " refused " + who + " at " + refused.address() + " while " + named(missing)
                    + (missing.size() == 1 ? " was" : " were") + " missing: " + refused.told();
            waiting.refused(lastRefused);
        }
    }

    private static String named(SortedSet<Integer> missing) {
        String numbers = missing.stream().map(Object::toString).collect(Collectors.joining(", "));
        return (missing.size() == 1 ? "node " : "nodes ") + numbers;
    }

    private void late(long timeoutMillis) {
        SortedSet<Integer> missing = missing();
        if (!missing.isEmpty()) {
            // a process of an unknown node may be of another job, so it does not show that a missing node can connect
            boolean mayBeBlocked = !refusedNodes.containsAll(missing);
            String did = keys.generation() == 0 ? " did not connect within " : " did not come back within ";
            String limit = keys.generation() == 0 ? "ferro.join.timeout" : "--node-timeout";
            refuse(
                    named(missing) + " of " + own.nodes()
                            + did + timeoutMillis + " ms: check that ferro run --node-rank "
                            + missing.first() + " runs there with a --master that leads to " + own
                            + (mayBeBlocked ? ", and that no firewall blocks the connection" : "")
                            + " (" + limit + " sets the time)"
                            + (lastRefused.isEmpty() ? "" : "; " + lastRefused),
                    FAILED);
        }
    }

    private void refuse(String why, int code) {
        StoreKeys.first(store, keys.start(), StoreKeys.encoded(StartDecision.refused(why, code)));
    }
}
