package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.Store;
import ferro.backend.tcp.store.EndedRanks;
import ferro.backend.tcp.store.LauncherStore;
import ferro.launcher.input.NodesApartException;
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
 * The launchers of a job of several nodes, seen from one of them. They meet before a rank starts, hear of each other's
 * failures and signals, and end with one verdict. A job of one node has one that meets nobody: it has no store, so
 * {@link #begin} and what comes from or goes to other launchers must not be called. Thread-safe.
 *
 * <pre>{@code
 * try (Nodes nodes = Nodes.meet(store, own, times, missing -> say(missing), GenerationStart.ONLY)) {
 *     nodes.begin(events, hurry);
 *     // ranks run; nodes.failed(rank, code) when one fails
 *     String verdict = nodes.conclude(orders -> report, gathered -> judged);
 * }
 * }</pre>
 */
public final class Nodes implements AutoCloseable {
    /** Number of signals that other launchers are told of: the second one kills. */
    private static final int MOST_SIGNALS = 2;

    private static final Duration LONGEST_BEAT = Duration.ofMillis(500);
    private static final int BEATS_IN_SILENCE = 5;

    private final LauncherStore connection;
    private final Store store;
    private final NodeCard own;
    private final WaitTimes times;
    private final boolean mayRestart;
    private final List<NodeCard> cards;
    private final Keys keys;
    private final ScheduledExecutorService beating = daemon("ferro-nodes-beat");
    private final ScheduledExecutorService telling = daemon("ferro-nodes-tell");
    private final Map<Integer, Long> orders = new ConcurrentHashMap<>();
    private final Map<Integer, CompletableFuture<LostNode>> lost = new TreeMap<>();
    /** On node 0: the reports of all launchers; each completes when the report has arrived. */
    private final Map<Integer, CompletableFuture<byte[]>> reports = new TreeMap<>();

    /** Last heartbeats of the others, by node; used by the thread of heartbeats alone, as is the time of the last look. */
    private final Map<Integer, LastBeat> heard = new HashMap<>();

    private long lookedNanos;
    private final AtomicBoolean concluded = new AtomicBoolean();
    private final AtomicBoolean ending = new AtomicBoolean();

    /** A heartbeat, and when it was first seen. */
    private record LastBeat(String beat, long atNanos) {}

    /**
     * How long launchers wait for each other.
     *
     * @param join    until all have come
     * @param silence until the next sign of life, while ranks run
     * @param ending  from the first failure or signal to the report of a node and the verdict; longer than ranks may take to
     *     end
     */
    public record WaitTimes(Duration join, Duration silence, Duration ending) {}

    /**
     * The reports from which the launcher of node 0 makes the verdict.
     *
     * @param reports reports of launchers, by node
     * @param lost    nodes without a report, by node
     */
    public record Gathered(Map<Integer, String> reports, Map<Integer, LostNode> lost) {}

    /**
     * Returns the silence after which a launcher must count as lost for the job to end within a time.
     *
     * @param within   from the last sign of life to the end of the job
     * @param stopping time that ranks get to end
     * @return half of that time at least
     */
    public static Duration silence(Duration within, Duration stopping) {
        Duration silence = within.minus(stopping).minus(LONGEST_BEAT.multipliedBy(3));
        Duration half = within.dividedBy(2);
        return silence.compareTo(half) > 0 ? silence : half;
    }

    private Nodes(
            LauncherStore connection,
            NodeCard own,
            WaitTimes times,
            List<NodeCard> cards,
            Keys keys,
            boolean mayRestart) {
        this.connection = connection;
        this.store = connection == null ? null : connection.store();
        this.own = own;
        this.times = times;
        this.mayRestart = mayRestart;
        this.cards = cards;
        this.keys = keys;
    }

    /**
     * {@return the only launcher of a job of one node, which has no other to tell, to watch or to wait for}
     *
     * @param own its card
     */
    public static Nodes alone(NodeCard own) {
        return new Nodes(null, own, null, List.of(own), null, false);
    }

    /** {@return whether the job has no other node} */
    public boolean isAlone() {
        return connection == null;
    }

    /**
     * Publishes the card of this launcher and waits until all launchers are there and alike. Interruptible.
     *
     * @param connection connection to the store; closed together with the nodes, and also if this call fails
     * @param own        this launcher
     * @param times      how long to wait
     * @param waiting    told which nodes are missing, after 3 s and then every 30 s
     * @param start      which start of the ranks they meet for
     * @return all launchers
     * @throws NodesApartException if one differs, does not come or goes, or if the calling thread is interrupted, with the
     *     same text on all that are there
     * @throws InterruptedException if the calling thread is interrupted again
     */
    public static Nodes meet(
            LauncherStore connection, NodeCard own, WaitTimes times, Waiting waiting, GenerationStart start)
            throws NodesApartException, InterruptedException {
        LauncherMeeting meeting = new LauncherMeeting(connection, own, times, start);
        List<NodeCard> cards = meeting.meet(waiting);
        return new Nodes(connection, own, times, cards, meeting.keys(), start.mayRestart());
    }

    /** {@return the number of the start of the ranks that the launchers have met for, from 0} */
    public int generation() {
        return keys.generation();
    }

    /** {@return all launchers, by number of the node} */
    public List<NodeCard> cards() {
        return cards;
    }

    /**
     * Starts to watch the other launchers and to receive their news.
     *
     * @param events takes what happens on other nodes
     * @param hurry  run at a signal that another launcher was sent; must not block
     */
    public void begin(BlockingQueue<JobEvent> events, Runnable hurry) {
        cards.forEach(card -> lost.put(card.node(), new CompletableFuture<>()));
        if (own.node() == 0) {
            cards.forEach(card -> reports.put(
                    card.node(), store.when(keys.report(card.node())).toCompletableFuture()));
            forgetGenerationBefore();
        }
        store.when(keys.joined()).thenRun(() -> events.add(new JobEvent.Joined()));
        store.when(keys.stop()).thenAccept(code -> {
            ends();
            events.add(new JobEvent.FailedElsewhere(Keys.exitCode(code), System.nanoTime()));
        });
        for (NodeCard card : cards) {
            for (int times = 1; times <= MOST_SIGNALS && card.node() != own.node(); times++) {
                int count = times;
                store.when(keys.signal(card.node(), times)).thenAccept(name -> {
                    ends();
                    hurry.run();
                    events.add(new JobEvent.Signalled(new String(name, StandardCharsets.US_ASCII), count));
                });
            }
        }
        watch(gone -> lost(gone, events));
    }

    /**
     * Detects launchers that are gone or silent. The launcher of node 0 watches all others, and they watch it. A connection that
     * ends tells at once. If no connection ends, heartbeats tell: each launcher increments a counter, and the store has to
     * answer.
     *
     * @param listener receives each lost launcher, perhaps more than once
     */
    private void watch(Consumer<LostNode> listener) {
        CompletableFuture<byte[]> ended =
                store.when(LauncherStore.goneKey(own.node(), own.session())).toCompletableFuture();
        if (own.node() == 0) {
            others().forEach(other -> store.when(LauncherStore.goneKey(other.node(), other.session()))
                    .thenRun(() -> listener.accept(new LostNode(other, "the connection of its launcher has ended"))));
        } else {
            LostNode zero = new LostNode(cards.get(0), "the connection to its launcher has ended");
            ended.whenComplete((never, end) -> listener.accept(zero));
        }
        lookedNanos = System.nanoTime();
        long millis = Math.max(1, Math.min(LONGEST_BEAT.toMillis(), times.silence.toMillis() / BEATS_IN_SILENCE));
        // no other task may block this thread
        beating.scheduleWithFixedDelay(() -> beat(listener, ended), millis, millis, TimeUnit.MILLISECONDS);
    }

    private List<NodeCard> others() {
        return cards.stream().filter(card -> card.node() != own.node()).toList();
    }

    private void beat(Consumer<LostNode> listener, CompletableFuture<byte[]> ended) {
        try {
            store.add(keys.beat(own.node()), 1);
            if (own.node() == 0) {
                listen(listener);
            }
        } catch (FerroException unanswered) {
            if (own.node() != 0 && !ended.isDone()) {
                listener.accept(new LostNode(cards.get(0), silent(times.silence.toNanos())));
            }
        } catch (IllegalStateException closed) {
            // this launcher has ended the connection: the watch is over
            return;
        }
    }

    private void listen(Consumer<LostNode> listener) {
        long now = System.nanoTime();
        // if this process was itself halted, silence of the others is no reason to blame them
        boolean stoodStill = now - lookedNanos > times.silence.toNanos() / 2;
        lookedNanos = now;
        for (NodeCard other : others()) {
            String beat = new String(store.get(keys.beat(other.node()), times.silence));
            LastBeat last = heard.get(other.node());
            if (last == null || stoodStill || !last.beat.equals(beat)) {
                heard.put(other.node(), new LastBeat(beat, now));
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
     * Removes what launchers have told of the generation before: all have read it. A launcher that was stopped meanwhile and
     * still waits for its verdict gets a short one.
     */
    private void forgetGenerationBefore() {
        if (keys.generation() > 0) {
            Keys old = new Keys(keys.generation() - 1);
            tell(() -> {
                old.all(cards, MOST_SIGNALS).forEach(store::delete);
                String why = LostNode.MARK + "has started generation " + keys.generation() + " without it";
                store.set(old.verdict(), why.getBytes(StandardCharsets.UTF_8));
            });
        }
    }

    /** {@return the nodes that are known to be lost, by number} */
    public List<LostNode> lost() {
        return lost.values().stream()
                .filter(CompletableFuture::isDone)
                .map(CompletableFuture::join)
                .toList();
    }

    private void lost(LostNode gone, BlockingQueue<JobEvent> events) {
        int node = gone.card().node();
        // a launcher that has reported how its ranks ended is no longer needed
        if (hasReported(node) || concluded.get() || !lost.get(node).complete(gone)) {
            return;
        }
        if (own.node() == 0) {
            tell(() -> stop(1));
        } else {
            events.add(new JobEvent.FailedElsewhere(1, System.nanoTime()));
            // closing the connection fails every wait for an answer; not on the connection's own thread
            tellNobody();
        }
    }

    /**
     * Sets a deadline at the first failure or signal. All ranks end in a known time from then on, so a launcher without a
     * report at the deadline counts as lost.
     */
    private void ends() {
        if (ending.compareAndSet(false, true)) {
            // node 0 judges without late launchers; the others wait twice as long, to receive its verdict
            long nanos = times.ending.toNanos() * (own.node() == 0 ? 1 : 2);
            String why = "its launcher has not reported for " + times.ending.toSeconds()
                    + " s how its ranks ended, although the job is over";
            CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS)
                    .execute(() -> others().stream()
                            .filter(card -> !hasReported(card.node()))
                            .forEach(card -> lost.get(card.node()).complete(new LostNode(card, why))));
        }
    }

    /** Whether a node has reported; only node 0 knows. */
    private boolean hasReported(int node) {
        return reports.containsKey(node) && reports.get(node).isDone();
    }

    private void tellNobody() {
        Thread closing = new Thread(connection::close, "ferro-nodes-end");
        closing.setDaemon(true);
        closing.start();
    }

    /**
     * Tells the others that a rank of this node has failed; the store of node 0 puts failures of all nodes in order.
     *
     * @param rank of the job
     * @param code exit code of its process
     */
    public void failed(int rank, int code) {
        tell(() -> orders.put(rank, stop(code)));
    }

    /**
     * Tells the others that the job is ended from this node, although none of its ranks has failed.
     *
     * @param code exit code
     */
    public void ended(int code) {
        tell(() -> stop(code));
    }

    private long stop(int code) {
        long order = store.add(keys.failures(), 1);
        if (order == 1) {
            store.set(keys.stop(), Keys.encoded(code));
        }
        return order;
    }

    /**
     * Tells the ranks of all nodes how a rank of this node has ended.
     *
     * @param rank of the job
     * @param end  of its process
     */
    public void ended(int rank, RankEnd end) {
        String key = mayRestart ? keys.end(rank) : EndedRanks.key(rank);
        tell(() -> store.set(key, EndedRanks.value(end)));
    }

    /**
     * Returns the rank whose end a key of the launchers' store has, where the ranks of each generation have a store of their
     * own.
     *
     * @param key        key that a launcher has set
     * @param generation generation that runs
     * @return rank; empty for any other key
     */
    public static Optional<Integer> endedRank(String key, int generation) {
        return new Keys(generation).endedRank(key);
    }

    /** Tells the others that all ranks have joined; only the launcher of node 0 knows this by itself. */
    public void joined() {
        if (own.node() == 0) {
            tell(() -> store.set(keys.joined(), new byte[0]));
        }
    }

    /**
     * Tells the others that this launcher was sent a signal, for the first time or the second.
     *
     * @param name  without SIG
     * @param times how many signals this launcher has been sent; those after the second are not passed on
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
                // the store is gone, and node 0 with it: the watch has reported it, and the verdict says it
                return;
            }
        });
    }

    /**
     * Reports to node 0 how the ranks of this node have ended, and waits for the verdict on all reports. A lost node is no
     * longer waited for. If node 0 is lost, each of the others judges by its own report.
     *
     * @param report makes the report from the order in which ranks of this node failed among those of all nodes, from 1
     * @param judge  makes the verdict from the reports that have come; the same function on all nodes
     * @return verdict
     * @throws InterruptedException if the calling thread is interrupted
     */
    public String conclude(Function<Map<Integer, Long>, String> report, Function<Gathered, String> judge)
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
     * Returns the report, or why there is none. Earlier tasks may wait for a store that does not answer; after a limit the
     * report no longer waits for the order of failures.
     */
    private String orUntold(CompletableFuture<String> reported) throws InterruptedException {
        String late = LostNode.MARK + "could not report how its ranks ended: the store of node 0 did not answer";
        return result(reported.completeOnTimeout(late, 2 * times.silence.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Returns the report of a launcher that cannot say how its ranks ended. Its node counts as lost for that reason.
     *
     * @param why reason, in words that follow "its launcher"
     * @return report
     */
    public static String untold(String why) {
        return LostNode.MARK + why;
    }

    /** Sends a text, or why it cannot. A launcher that can do neither closes its connection, so that no other waits. */
    private void send(String key, String text) {
        try {
            Keys.first(store, key, text.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalArgumentException | FerroException refused) {
            try {
                String why = LostNode.MARK + "could not report how its ranks ended: " + refused.getMessage();
                Keys.first(store, key, why.getBytes(StandardCharsets.UTF_8));
            } catch (FerroException | IllegalStateException unreachable) {
                tellNobody();
            }
        }
    }

    private String announced(Function<Gathered, String> judge) throws InterruptedException {
        Map<Integer, String> texts = new TreeMap<>();
        Map<Integer, LostNode> without = new TreeMap<>();
        for (NodeCard card : cards) {
            CompletableFuture<byte[]> report = reports.get(card.node());
            result(CompletableFuture.anyOf(report, lost.get(card.node())));
            // answers come in order: after this answer, a report that is in the store is known here
            store.add(keys.failures(), 0);
            if (report.isDone()) {
                String text = new String(result(report), StandardCharsets.UTF_8);
                LostNode.said(card, text)
                        .ifPresentOrElse(one -> without.put(card.node(), one), () -> texts.put(card.node(), text));
            } else {
                without.put(card.node(), result(lost.get(card.node())));
            }
        }
        concluded.set(true);
        String verdict = LostNode.made(
                () -> judge.apply(new Gathered(texts, without)), "could not find the cause of the failure");
        send(keys.verdict(), verdict);
        awaitOthersGone();
        if (verdict.startsWith(LostNode.MARK)) {
            throw new IllegalStateException(
                    LostNode.said(own, verdict).orElseThrow().why());
        }
        return verdict;
    }

    /**
     * Tells launchers that wait for the place of a node that the job starts no other generation; only the launcher of node 0
     * knows this.
     *
     * @param exitCode exit code of the job
     */
    public void jobEnds(int exitCode) {
        jobEnds(store, own, exitCode);
    }

    static void jobEnds(Store store, NodeCard own, int exitCode) {
        try {
            if (own.node() == 0 && store != null) {
                Keys.first(store, Keys.ENDED, Keys.encoded(exitCode));
            }
        } catch (FerroException | IllegalStateException gone) {
            // the store of this launcher has ended before it: nobody can wait there
            return;
        }
    }

    private String heard(String own, Function<Gathered, String> judge) throws InterruptedException {
        CompletableFuture<String> verdict = new CompletableFuture<>();
        try {
            store.when(keys.verdict()).thenAccept(value -> verdict.complete(new String(value, StandardCharsets.UTF_8)));
        } catch (IllegalStateException | FerroException closed) {
            // node 0 or this connection is lost already, and the watch reports it
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
                        : LostNode.said(cards.get(0), text).orElseThrow());
        LostNode.said(this.own, own).ifPresent(one -> without.put(one.card().node(), one));
        return judge.apply(new Gathered(without.size() == 1 ? Map.of(this.own.node(), own) : Map.of(), without));
    }

    private static <T> T result(CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException failure) {
            throw new CompletionException(failure.getCause());
        }
    }

    /** Waits, on node 0, until all other launchers that are not lost have read the last message and are gone. */
    private void awaitOthersGone() throws InterruptedException {
        LauncherMeeting.awaitGone(
                store,
                own,
                cards.stream().filter(card -> !lost.get(card.node()).isDone()).toList());
    }

    /** Closes the connection. On node 0 this launcher's store may be closed after it. */
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
     * {@return an executor with one thread, which does not keep the process alive}
     *
     * @param name of the thread
     */
    public static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }
}
