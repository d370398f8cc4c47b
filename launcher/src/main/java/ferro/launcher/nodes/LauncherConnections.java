package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.Store;
import ferro.backend.tcp.store.EndedRanks;
import ferro.backend.tcp.store.LauncherClient;
import ferro.launcher.input.JobStartException;
import ferro.launcher.rank.JobEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The connection of one launcher to the other launchers of a job on several nodes. Before ranks start, the launchers
 * wait until all of them have connected. While ranks run, each launcher receives the failures and signals of the other
 * launchers. At the end, all launchers receive one verdict on the job.
 *
 * <p>A job of one node has no store and no other launchers: {@link #begin}, {@link #conclude} and {@link #generation}
 * must not be called. Thread-safe.
 *
 * <pre>{@code
 * try (Nodes nodes = Nodes.meet(store, own, times, missing -> say(missing), GenerationStart.ONLY)) {
 *     nodes.begin(events, hurry);
 *     // ranks run; nodes.failed(rank, code) when one fails
 *     String verdict = nodes.conclude(orders -> report, gathered -> judged);
 * }
 * }</pre>
 */
public final class LauncherConnections implements AutoCloseable {
    /** Number of signals that a launcher forwards to other launchers. The second signal kills the ranks. */
    private static final int MOST_SIGNALS = 2;

    private static final Duration LONGEST_BEAT = Duration.ofMillis(500);
    private static final int BEATS_IN_SILENCE = 5;

    private final LauncherClient connection;
    private final Store store;
    private final LauncherEntry own;
    private final WaitTimeouts times;
    private final boolean mayRestart;
    private final List<LauncherEntry> entries;
    private final StoreKeys keys;
    private final ScheduledExecutorService beating = daemon("ferro-nodes-beat");
    private final ScheduledExecutorService telling = daemon("ferro-nodes-tell");
    private final Map<Integer, Long> orders = new ConcurrentHashMap<>();
    private final Map<Integer, CompletableFuture<LostNode>> lost = new TreeMap<>();
    /** The reports of all launchers by node, on node 0 only. A future completes when a report has arrived. */
    private final Map<Integer, CompletableFuture<byte[]>> reports = new TreeMap<>();

    /** The last heartbeat of each other node. Only the heartbeat thread uses this map and the last poll time. */
    private final Map<Integer, LastHeartbeat> heard = new HashMap<>();

    private long lookedNanos;
    private final AtomicBoolean concluded = new AtomicBoolean();
    private final AtomicBoolean ending = new AtomicBoolean();

    /** A heartbeat, and the time at which this launcher first received the heartbeat. */
    private record LastHeartbeat(String beat, long atNanos) {}

    /**
     * Timeouts of launchers that wait for each other.
     *
     * @param join    longest wait until all launchers have connected
     * @param silence longest time without a sign of life while ranks run
     * @param ending  longest time from the first failure or signal to the report of a node, and also from the report to
     *     the verdict; must be longer than ranks may take to end
     */
    public record WaitTimeouts(Duration join, Duration silence, Duration ending) {}

    /**
     * The reports from which the launcher of node 0 makes the verdict.
     *
     * @param reports reports of launchers, by node
     * @param lost    nodes without a report, by node
     */
    public record GatheredReports(Map<Integer, String> reports, Map<Integer, LostNode> lost) {}

    /**
     * Returns how long a launcher may be silent before it counts as lost. The returned silence leaves time to stop the
     * ranks.
     *
     * @param within   longest time from the last sign of life to the end of the job
     * @param stopping time that ranks get to end
     * @return longest silence, at least half of {@code within}
     */
    public static Duration silence(Duration within, Duration stopping) {
        Duration silence = within.minus(stopping).minus(LONGEST_BEAT.multipliedBy(3));
        Duration half = within.dividedBy(2);
        return silence.compareTo(half) > 0 ? silence : half;
    }

    private LauncherConnections(
            LauncherClient connection,
            LauncherEntry own,
            WaitTimeouts times,
            List<LauncherEntry> entries,
            StoreKeys keys,
            boolean mayRestart) {
        this.connection = connection;
        this.store = connection == null ? null : connection.store();
        this.own = own;
        this.times = times;
        this.mayRestart = mayRestart;
        this.entries = entries;
        this.keys = keys;
    }

    /**
     * {@return the object of the only launcher of a job of one node, which has no other launchers}
     *
     * @param own entry of the launcher
     */
    public static LauncherConnections alone(LauncherEntry own) {
        return new LauncherConnections(null, own, null, List.of(own), null, false);
    }

    /** {@return whether the job has no other node} */
    public boolean isAlone() {
        return connection == null;
    }

    /**
     * Publishes the entry of this launcher, and waits until all launchers have connected and their options agree.
     * Interruptible.
     *
     * @param connection connection to the store; closed together with the returned object, and also if this call fails
     * @param own        entry of this launcher
     * @param times      timeouts of the waits
     * @param waiting    called with the missing nodes after 3 s, and then every 30 s
     * @param start      the start of the ranks for which the launchers wait
     * @return connection to all launchers of the job
     * @throws JobStartException if the options of two launchers differ, if a launcher does not connect in time or
     *     leaves, or if the calling thread is interrupted; all launchers get the same text
     * @throws InterruptedException if the calling thread is interrupted again
     */
    public static LauncherConnections meet(
            LauncherClient connection,
            LauncherEntry own,
            WaitTimeouts times,
            WaitListener waiting,
            GenerationStart start)
            throws JobStartException, InterruptedException {
        LauncherBarrier meeting = new LauncherBarrier(connection, own, times, start);
        List<LauncherEntry> entries = meeting.meet(waiting);
        return new LauncherConnections(connection, own, times, entries, meeting.keys(), start.mayRestart());
    }

    /** {@return the generation, which is the number of the current start of the ranks, from 0} */
    public int generation() {
        return keys.generation();
    }

    /** {@return the entries of all launchers, by number of the node} */
    public List<LauncherEntry> entries() {
        return entries;
    }

    /**
     * Starts to watch the other launchers and to receive their failures and signals.
     *
     * @param events receives the events of other nodes
     * @param hurry  task that runs when another launcher has forwarded a signal; must not block
     */
    public void begin(BlockingQueue<JobEvent> events, Runnable hurry) {
        entries.forEach(entry -> lost.put(entry.node(), new CompletableFuture<>()));
        if (own.node() == 0) {
            entries.forEach(entry -> reports.put(
                    entry.node(), store.when(keys.report(entry.node())).toCompletableFuture()));
            forgetGenerationBefore();
        }
        store.when(keys.joined()).thenRun(() -> events.add(new JobEvent.AllJoinedEvent()));
        store.when(keys.stop()).thenAccept(code -> {
            ends();
            events.add(new JobEvent.RemoteFailureEvent(StoreKeys.exitCode(code), System.nanoTime()));
        });
        for (LauncherEntry entry : entries) {
            for (int times = 1; times <= MOST_SIGNALS && entry.node() != own.node(); times++) {
                int count = times;
                store.when(keys.signal(entry.node(), times)).thenAccept(name -> {
                    ends();
                    hurry.run();
                    events.add(new JobEvent.StopSignalEvent(new String(name, StandardCharsets.US_ASCII), count));
                });
            }
        }
        watch(gone -> lost(gone, events));
    }

    /**
     * Detects launchers that are gone or silent. The launcher of node 0 watches all other launchers, and each other
     * launcher watches node 0. The end of a launcher's connection shows the loss at once. In case a connection stays
     * open, each launcher regularly increments a counter in the store, and the store must answer.
     *
     * @param listener receives each lost launcher, possibly more than once
     */
    private void watch(Consumer<LostNode> listener) {
        CompletableFuture<byte[]> ended =
                store.when(LauncherClient.goneKey(own.node(), own.session())).toCompletableFuture();
        if (own.node() == 0) {
            others().forEach(other -> store.when(LauncherClient.goneKey(other.node(), other.session()))
                    .thenRun(() -> listener.accept(new LostNode(other, "the connection of its launcher has ended"))));
        } else {
            LostNode zero = new LostNode(entries.get(0), "the connection to its launcher has ended");
            ended.whenComplete((never, end) -> listener.accept(zero));
        }
        lookedNanos = System.nanoTime();
        long millis = Math.max(1, Math.min(LONGEST_BEAT.toMillis(), times.silence.toMillis() / BEATS_IN_SILENCE));
        // no other task may block this thread
        beating.scheduleWithFixedDelay(() -> beat(listener, ended), millis, millis, TimeUnit.MILLISECONDS);
    }

    private List<LauncherEntry> others() {
        return entries.stream().filter(entry -> entry.node() != own.node()).toList();
    }

    private void beat(Consumer<LostNode> listener, CompletableFuture<byte[]> ended) {
        try {
            store.add(keys.beat(own.node()), 1);
            if (own.node() == 0) {
                listen(listener);
            }
        } catch (FerroException unanswered) {
            if (own.node() != 0 && !ended.isDone()) {
                listener.accept(new LostNode(entries.get(0), silent(times.silence.toNanos())));
            }
        } catch (IllegalStateException closed) {
            // this launcher has closed the connection, so this launcher watches no other launcher any more
            return;
        }
    }

    private void listen(Consumer<LostNode> listener) {
        long now = System.nanoTime();
        // if this process was suspended itself, the silence of other launchers is not a reason to blame them
        boolean stoodStill = now - lookedNanos > times.silence.toNanos() / 2;
        lookedNanos = now;
        for (LauncherEntry other : others()) {
            String beat = new String(store.get(keys.beat(other.node()), times.silence));
            LastHeartbeat last = heard.get(other.node());
            if (last == null || stoodStill || !last.beat.equals(beat)) {
                heard.put(other.node(), new LastHeartbeat(beat, now));
            } else if (now - last.atNanos > times.silence.toNanos()) {
                listener.accept(new LostNode(other, silent(now - last.atNanos)));
            }
        }
    }

    private static String silent(long nanos) {
        return String.format(
                Locale.ROOT,
                "its launcher sent nothing for %.1f s: the network is cut, or the machine is down or suspended",
                nanos / 1e9);
    }

    /**
     * Removes the keys that launchers have published in the previous generation, because all launchers have read these
     * keys. A launcher that was suspended and still waits for the previous verdict receives a short verdict.
     */
    private void forgetGenerationBefore() {
        if (keys.generation() > 0) {
            StoreKeys old = new StoreKeys(keys.generation() - 1);
            tell(() -> {
                old.all(entries, MOST_SIGNALS).forEach(store::delete);
                String why = LostNode.MARK + "has started generation " + keys.generation() + " without it";
                store.set(old.verdict(), why.getBytes(StandardCharsets.UTF_8));
            });
        }
    }

    /** {@return the nodes that are lost according to this launcher, by number} */
    public List<LostNode> lost() {
        return lost.values().stream()
                .filter(CompletableFuture::isDone)
                .map(CompletableFuture::join)
                .toList();
    }

    private void lost(LostNode gone, BlockingQueue<JobEvent> events) {
        int node = gone.entry().node();
        // a launcher that has reported how its ranks ended is no longer needed
        if (hasReported(node) || concluded.get() || !lost.get(node).complete(gone)) {
            return;
        }
        if (own.node() == 0) {
            tell(() -> stop(1));
        } else {
            events.add(new JobEvent.RemoteFailureEvent(1, System.nanoTime()));
            // a close fails all pending requests; the connection's own thread must not close the connection
            tellNobody();
        }
    }

    /**
     * Sets a deadline after the first failure or signal. All ranks end within a known time after a failure or signal.
     * Therefore a launcher that has not reported at the deadline counts as lost.
     */
    private void ends() {
        if (ending.compareAndSet(false, true)) {
            // node 0 judges without late launchers; other launchers wait twice as long, to receive node 0's verdict
            long nanos = times.ending.toNanos() * (own.node() == 0 ? 1 : 2);
            String why = "its launcher has not reported for " + times.ending.toSeconds()
                    + " s how its ranks ended, although the job is over";
            CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS)
                    .execute(() -> others().stream()
                            .filter(entry -> !hasReported(entry.node()))
                            .forEach(entry -> lost.get(entry.node()).complete(new LostNode(entry, why))));
        }
    }

    /** Whether a node has reported. Always false on other nodes than node 0. */
    private boolean hasReported(int node) {
        return reports.containsKey(node) && reports.get(node).isDone();
    }

    private void tellNobody() {
        Thread closing = new Thread(connection::close, "ferro-nodes-end");
        closing.setDaemon(true);
        closing.start();
    }

    /**
     * Notifies the other launchers that a rank of this node has failed. The store of node 0 numbers all failures.
     *
     * @param rank rank of the job that has failed
     * @param code exit code of the rank's process
     */
    public void failed(int rank, int code) {
        tell(() -> orders.put(rank, stop(code)));
    }

    /**
     * Notifies the other launchers that this launcher ends the job, although none of its ranks has failed.
     *
     * @param code exit code of the job
     */
    public void ended(int code) {
        tell(() -> stop(code));
    }

    private long stop(int code) {
        long order = store.add(keys.failures(), 1);
        if (order == 1) {
            store.set(keys.stop(), StoreKeys.encoded(code));
        }
        return order;
    }

    /**
     * Publishes how a rank of this node has ended, for the ranks of all nodes.
     *
     * @param rank rank of the job that has ended
     * @param end  how the rank's process has ended
     */
    public void ended(int rank, RankEnd end) {
        String key = mayRestart ? keys.end(rank) : EndedRanks.key(rank);
        tell(() -> store.set(key, EndedRanks.value(end)));
    }

    /**
     * Returns the rank whose end a launcher has published under a key. Used only for jobs in which the ranks of each
     * generation have a separate store.
     *
     * @param key        key that a launcher has set in the store of the launchers
     * @param generation generation that runs
     * @return rank; empty for any other key
     */
    public static Optional<Integer> endedRank(String key, int generation) {
        return new StoreKeys(generation).endedRank(key);
    }

    /** Notifies the other launchers that all ranks have joined. Does nothing on other nodes than node 0. */
    public void joined() {
        if (own.node() == 0) {
            tell(() -> store.set(keys.joined(), new byte[0]));
        }
    }

    /**
     * Forwards a signal that this launcher has received to the other launchers.
     *
     * @param name  name of the signal without SIG
     * @param times number of signals that this launcher has received, including this signal; only the first two are
     *     sent
     */
    public void signalled(String name, int times) {
        if (!isAlone() && times <= MOST_SIGNALS && !concluded.get()) {
            ends();
            tell(() -> store.set(keys.signal(own.node(), times), name.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    private void tell(Runnable task) {
        if (isAlone()) {
            return;
        }
        telling.execute(() -> {
            try {
                task.run();
            } catch (FerroException | IllegalStateException unreachable) {
                // the store and node 0 are lost: the watch has reported the loss, and the verdict names it
                return;
            }
        });
    }

    /**
     * Reports to node 0 how the ranks of this node have ended, and waits for the verdict on all reports. Does not wait
     * for a node that is lost. If node 0 is lost, each other launcher judges by its own report.
     *
     * @param report makes the report from the map of this node's failed ranks to their numbers among all failures
     * @param judge  makes the verdict from the reports that have arrived; the same function on all nodes
     * @return verdict
     * @throws InterruptedException if the calling thread is interrupted
     */
    public String conclude(Function<Map<Integer, Long>, String> report, Function<GatheredReports, String> judge)
            throws InterruptedException {
        CompletableFuture<String> reported = new CompletableFuture<>();
        telling.execute(() -> reported.complete(
                LostNode.made(() -> report.apply(Map.copyOf(orders)), "could not report how its ranks ended")));
        String text = orUntold(reported);
        tell(() -> send(keys.report(own.node()), text));
        String verdict = own.node() == 0 ? announced(judge) : heard(text, judge);
        concluded.set(true);
        return verdict;
    }

    /**
     * Returns the report, or a text with the reason why the report is missing. Earlier tasks may wait for a store that
     * does not answer. Therefore the wait for the order of failures has a limit.
     */
    private String orUntold(CompletableFuture<String> reported) throws InterruptedException {
        String late = LostNode.MARK + "could not report how its ranks ended: the store of node 0 did not answer";
        return result(reported.completeOnTimeout(late, 2 * times.silence.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Returns the report of a launcher that cannot report how its ranks ended. With this report, the node of the
     * launcher counts as lost.
     *
     * @param why reason, in words that follow "its launcher"
     * @return report
     */
    public static String untold(String why) {
        return LostNode.MARK + why;
    }

    /** Sends a text, or else the reason why it cannot be sent. If both fail, closes the connection to end all waits. */
    private void send(String key, String text) {
        try {
            StoreKeys.first(store, key, text.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalArgumentException | FerroException refused) {
            try {
                String why = LostNode.MARK + "could not report how its ranks ended: " + refused.getMessage();
                StoreKeys.first(store, key, why.getBytes(StandardCharsets.UTF_8));
            } catch (FerroException | IllegalStateException unreachable) {
                tellNobody();
            }
        }
    }

    private String announced(Function<GatheredReports, String> judge) throws InterruptedException {
        Map<Integer, String> texts = new TreeMap<>();
        Map<Integer, LostNode> without = new TreeMap<>();
        for (LauncherEntry entry : entries) {
            CompletableFuture<byte[]> report = reports.get(entry.node());
            result(CompletableFuture.anyOf(report, lost.get(entry.node())));
            // the store answers in order, so after this answer this launcher has every report that is in the store
            store.add(keys.failures(), 0);
            if (report.isDone()) {
                String text = new String(result(report), StandardCharsets.UTF_8);
                LostNode.said(entry, text)
                        .ifPresentOrElse(one -> without.put(entry.node(), one), () -> texts.put(entry.node(), text));
            } else {
                without.put(entry.node(), result(lost.get(entry.node())));
            }
        }
        concluded.set(true);
        String verdict = LostNode.made(
                () -> judge.apply(new GatheredReports(texts, without)), "could not find the cause of the failure");
        send(keys.verdict(), verdict);
        awaitOthersGone();
        if (verdict.startsWith(LostNode.MARK)) {
            throw new IllegalStateException(
                    LostNode.said(own, verdict).orElseThrow().why());
        }
        return verdict;
    }

    /**
     * Publishes that the job starts no other generation. The notice is for launchers that wait for the slot of a node.
     * Does nothing on other nodes than node 0.
     *
     * @param exitCode exit code of the job
     */
    public void jobEnds(int exitCode) {
        jobEnds(store, own, exitCode);
    }

    static void jobEnds(Store store, LauncherEntry own, int exitCode) {
        try {
            if (own.node() == 0 && store != null) {
                StoreKeys.first(store, StoreKeys.ENDED, StoreKeys.encoded(exitCode));
            }
        } catch (FerroException | IllegalStateException gone) {
            // the store of this launcher has ended already, so no launcher can wait for it
            return;
        }
    }

    private String heard(String own, Function<GatheredReports, String> judge) throws InterruptedException {
        CompletableFuture<String> verdict = new CompletableFuture<>();
        try {
            store.when(keys.verdict()).thenAccept(value -> verdict.complete(new String(value, StandardCharsets.UTF_8)));
        } catch (IllegalStateException | FerroException closed) {
            // node 0 or this connection is lost already, and the watch reports the loss
        }
        result(CompletableFuture.anyOf(verdict, lost.get(0)));
        String text = verdict.isDone() ? result(verdict) : LostNode.MARK;
        if (!text.startsWith(LostNode.MARK)) {
            return text;
        }
        Map<Integer, LostNode> without = new TreeMap<>();
        without.put(
                0,
                lost.get(0).isDone()
                        ? result(lost.get(0))
                        : LostNode.said(entries.get(0), text).orElseThrow());
        LostNode.said(this.own, own).ifPresent(one -> without.put(one.entry().node(), one));
        return judge.apply(new GatheredReports(without.size() == 1 ? Map.of(this.own.node(), own) : Map.of(), without));
    }

    private static <T> T result(CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException failure) {
            throw new CompletionException(failure.getCause());
        }
    }

    /** Waits, on node 0, until all launchers that are not lost have read the last message and disconnected. */
    private void awaitOthersGone() throws InterruptedException {
        List<LauncherEntry> present = entries.stream()
                .filter(entry -> !lost.get(entry.node()).isDone())
                .toList();
        LauncherBarrier.awaitGone(store, own, present);
    }

    /** Closes the connection. On node 0, the store of this launcher may be closed after this call. */
    @Override
    public void close() {
        concluded.set(true);
        beating.shutdownNow();
        telling.shutdown();
        if (!isAlone()) {
            connection.close();
        }
    }

    /**
     * {@return an executor with one daemon thread}
     *
     * @param name name of the thread
     */
    public static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }
}
