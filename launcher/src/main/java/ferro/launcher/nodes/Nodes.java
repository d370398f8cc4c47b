package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.LauncherStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The launchers of a job of several nodes, seen from one of them: they come together before a rank starts, hear of each other's
 * failures and signals, and end with one verdict. Thread-safe.
 *
 * <pre>{@code
 * try (Nodes nodes = Nodes.meet(store, own, times, missing -> say(missing))) {
 *     nodes.begin(news);
 *     // ranks run; nodes.failed(rank, code) when one fails
 *     String verdict = nodes.conclude(orders -> report, gathered -> judged);
 * }
 * }</pre>
 */
public final class Nodes implements AutoCloseable {
    /** How many signals are told to other launchers: the second one kills. */
    private static final int MOST_SIGNALS = 2;

    /** What a report or a verdict begins with that could not be made or sent; what follows says why. */
    private static final String UNTOLD = "!";

    private static final long FIRST_LINE_MILLIS = 1_000;
    private static final long LATER_LINES_MILLIS = 30_000;
    /** The store goes with the launcher of node 0, which therefore waits so long for those that still read. */
    private static final long FAREWELL_MILLIS = 2_000;

    private final LauncherStore connection;
    private final Store store;
    private final NodeCard own;
    private final Times times;
    private final ScheduledExecutorService beating = daemon("ferro-nodes-beat");
    private final ScheduledExecutorService telling = daemon("ferro-nodes-tell");
    private final Map<Integer, Long> orders = new ConcurrentHashMap<>();
    private final Map<Integer, CompletableFuture<LostNode>> lost = new TreeMap<>();
    /** On node 0: of all launchers, complete when they have come. */
    private final Map<Integer, CompletableFuture<byte[]>> reports = new TreeMap<>();

    private final AtomicBoolean concluded = new AtomicBoolean();
    private final AtomicBoolean ending = new AtomicBoolean();
    private List<NodeCard> cards = List.of();
    private boolean met;

    /**
     * How long launchers wait for each other.
     *
     * @param join    for all to come
     * @param silence for a sign of life, while ranks run
     * @param ending  from the first failure or signal to the report of a node and the verdict: longer than ranks may take to
     *     end
     */
    public record Times(Duration join, Duration silence, Duration ending) {}

    /**
     * What the launcher of node 0 judges by.
     *
     * @param reports of launchers, by node
     * @param lost    nodes without a report, by node
     */
    public record Gathered(Map<Integer, String> reports, Map<Integer, LostNode> lost) {}

    /**
     * Returns the silence after which a launcher has to be lost so that the job is over within a time.
     *
     * @param within   from the last sign of life to the end of the job
     * @param stopping what ranks are given to end
     * @return half of that time at least
     */
    public static Duration silence(Duration within, Duration stopping) {
        Duration silence = within.minus(stopping).minus(NodeWatch.LONGEST_BEAT.multipliedBy(3));
        Duration half = within.dividedBy(2);
        return silence.compareTo(half) > 0 ? silence : half;
    }

    private Nodes(LauncherStore connection, NodeCard own, Times times) {
        this.connection = connection;
        this.store = connection.store();
        this.own = own;
        this.times = times;
    }

    /**
     * Shows this launcher to the others and waits until all are there and alike. Interruptible.
     *
     * @param connection to the store, closed with the nodes, also where this fails
     * @param own        this launcher
     * @param times      how long to wait
     * @param waiting    told after a second, and every thirty, which nodes are missing
     * @return all launchers
     * @throws NodesApartException if one differs, does not come or goes, or if the calling thread is interrupted, with the
     *     same text on all that are there
     * @throws InterruptedException if the calling thread is interrupted again
     */
    public static Nodes meet(LauncherStore connection, NodeCard own, Times times, Waiting waiting)
            throws NodesApartException, InterruptedException {
        Nodes nodes = new Nodes(connection, own, times);
        try {
            nodes.meet(waiting);
            return nodes;
        } catch (NodesApartException apart) {
            nodes.farewell();
            throw apart;
        } catch (InterruptedException ended) {
            throw nodes.ended(waiting.interrupted());
        } catch (FerroException failure) {
            if (failure.code() == FerroException.Code.INTERRUPTED) {
                Thread.interrupted();
                throw nodes.ended(waiting.interrupted());
            }
            throw failure;
        } finally {
            nodes.closeUnlessMet();
        }
    }

    private void closeUnlessMet() {
        if (!met) {
            close();
        }
    }

    /** Tells the others that this launcher goes, and stays while they read it. */
    private NodesApartException ended(NodesApartException why) throws InterruptedException {
        NodesApartException said = UnfitNode.tell(connection, own, why, Duration.ZERO);
        farewell();
        return said;
    }

    private void meet(Waiting waiting) throws NodesApartException, InterruptedException {
        store.add(Keys.beat(own.node()), 0);
        byte[] card = Keys.encoded(own);
        if (!Keys.first(store, Keys.card(own.node()), card)) {
            NodeCard there = Keys.decoded(store.get(Keys.card(own.node()), times.silence), NodeCard.class);
            String text = there.sameNode(own);
            Keys.first(store, Keys.START, Keys.encoded(Start.refused(text, 2)));
            throw new NodesApartException(text, 2);
        }
        Roll roll = new Roll(store, own, telling, waiting);
        if (own.node() == 0) {
            roll.call(times.join.toMillis());
        }
        Start start;
        try {
            start = started(() -> waiting.missing(own.node() == 0 ? roll.missing() : Set.of()));
        } finally {
            cards = roll.known();
        }
        if (!start.begins()) {
            throw new NodesApartException(start.refusal(), start.code());
        }
        cards = start.cards();
        if (!cards.contains(own)) {
            // the job of the others is whole without this launcher, and goes on
            throw new NodesApartException(
                    cards.get(0).difference(own).orElse(own + " is not among the nodes of this job: " + cards), 2);
        }
        met = true;
    }

    private Start started(Runnable line) throws NodesApartException, InterruptedException {
        CompletableFuture<byte[]> start = store.when(Keys.START).toCompletableFuture();
        for (long millis = FIRST_LINE_MILLIS; ; millis = LATER_LINES_MILLIS) {
            try {
                return Keys.decoded(start.get(millis, TimeUnit.MILLISECONDS), Start.class);
            } catch (TimeoutException passed) {
                line.run();
            } catch (ExecutionException ended) {
                throw new NodesApartException(
                        "node 0 has gone before a rank was started ("
                                + ended.getCause().getMessage() + "): what its launcher printed there says why",
                        1);
            }
        }
    }

    /**
     * Returns all launchers.
     *
     * @return by number of the node
     */
    public List<NodeCard> cards() {
        return cards;
    }

    /**
     * Begins to watch the others and to hear of them.
     *
     * @param news told what happens on other nodes
     */
    public void begin(NodeNews news) {
        cards.forEach(card -> lost.put(card.node(), new CompletableFuture<>()));
        if (own.node() == 0) {
            cards.forEach(card -> reports.put(
                    card.node(), store.when(Keys.report(card.node())).toCompletableFuture()));
        }
        store.when(Keys.JOINED).thenRun(news::allJoined);
        store.when(Keys.STOP).thenAccept(code -> {
            ends();
            news.failedElsewhere(Integer.parseInt(new String(code, StandardCharsets.US_ASCII)));
        });
        for (NodeCard card : cards) {
            for (int times = 1; times <= MOST_SIGNALS && card.node() != own.node(); times++) {
                int count = times;
                store.when(Keys.signal(card.node(), times)).thenAccept(name -> {
                    ends();
                    news.signalledElsewhere(new String(name, StandardCharsets.US_ASCII), count);
                });
            }
        }
        new NodeWatch(store, new NodeWatch.Cards(own, cards), times.silence, beating, gone -> lost(gone, news));
    }

    private void lost(LostNode gone, NodeNews news) {
        int node = gone.card().node();
        // whoever has said how its ranks ended is needed no longer
        if (hasReported(node) || concluded.get() || !lost.get(node).complete(gone)) {
            return;
        }
        if (own.node() == 0) {
            tell(() -> stop(1));
        } else {
            news.failedElsewhere(1);
            // whoever waits for an answer hears now that there is none; not on the connection's own thread
            tellNobody();
        }
    }

    /** From a failure or a signal on, all ranks end in a known time: launchers that have told nothing then never will. */
    private void ends() {
        if (ending.compareAndSet(false, true)) {
            // node 0 judges without those that are late, and the others have to hear its verdict
            long nanos = times.ending.toNanos() * (own.node() == 0 ? 1 : 2);
            String why = "its launcher has not told for " + times.ending.toSeconds()
                    + " s how its ranks ended, though the job is over";
            CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS)
                    .execute(() -> cards.stream()
                            .filter(card -> card.node() != own.node() && !hasReported(card.node()))
                            .forEach(card -> lost.get(card.node()).complete(new LostNode(card, why))));
        }
    }

    /** Only node 0 knows. */
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
     * Tells the others that the job is ended from this node, though none of its ranks has failed.
     *
     * @param code exit code
     */
    public void ended(int code) {
        tell(() -> stop(code));
    }

    private long stop(int code) {
        long order = store.add(Keys.FAILURES, 1);
        if (order == 1) {
            store.set(Keys.STOP, Integer.toString(code).getBytes(StandardCharsets.US_ASCII));
        }
        return order;
    }

    /** Tells the others that all ranks have joined; only the launcher of node 0 knows. */
    public void joined() {
        tell(() -> store.set(Keys.JOINED, new byte[0]));
    }

    /**
     * Tells the others that this launcher was sent a signal, for the first time or the second.
     *
     * @param name  without SIG
     * @param times how many signals this launcher has been sent; those behind the second are told to nobody
     */
    public void signalled(String name, int times) {
        if (times <= MOST_SIGNALS) {
            ends();
            tell(() -> store.set(Keys.signal(own.node(), times), name.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    private void tell(Runnable task) {
        telling.execute(() -> {
            try {
                task.run();
            } catch (FerroException | IllegalStateException unreachable) {
                // the store is gone, and so is node 0: the watch has told it, and the verdict says it
                return;
            }
        });
    }

    /**
     * Tells node 0 how the ranks of this node have ended, and waits for what is made of all reports. A lost node is waited for no
     * longer; where node 0 is lost, each of the others judges by its own report.
     *
     * @param report made of the order in which ranks of this node failed among those of all nodes, from 1
     * @param judge  makes the verdict of what has come; the same on all nodes
     * @return verdict
     * @throws InterruptedException if the calling thread is interrupted
     */
    public String conclude(Function<Map<Integer, Long>, String> report, Function<Gathered, String> judge)
            throws InterruptedException {
        CompletableFuture<String> reported = new CompletableFuture<>();
        telling.execute(() ->
                reported.complete(made(() -> report.apply(Map.copyOf(orders)), "could not tell how its ranks ended")));
        String text = orUntold(reported);
        tell(() -> send(Keys.report(own.node()), text));
        String verdict = own.node() == 0 ? announced(judge) : heard(text, judge);
        concluded.set(true);
        return verdict;
    }

    /** Failures told before may wait for a store that does not answer: then the report does not wait for their order. */
    private String orUntold(CompletableFuture<String> reported) throws InterruptedException {
        String late = UNTOLD + "could not tell how its ranks ended: the store of node 0 did not answer";
        return result(reported.completeOnTimeout(late, 2 * times.silence.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Returns what a launcher reports that cannot say how its ranks ended: its node counts as lost for that reason.
     *
     * @param why in words that follow "its launcher"
     * @return report
     */
    public static String untold(String why) {
        return UNTOLD + why;
    }

    private static String made(Supplier<String> text, String what) {
        try {
            return text.get();
        } catch (RuntimeException failure) {
            return UNTOLD + what + ": " + failure;
        }
    }

    /** Sends a text, or why it cannot be sent; a launcher that can do neither leaves, so that nobody waits for it. */
    private void send(String key, String text) {
        try {
            Keys.first(store, key, text.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalArgumentException | FerroException refused) {
            try {
                String why = UNTOLD + "could not tell how its ranks ended: " + refused.getMessage();
                Keys.first(store, key, why.getBytes(StandardCharsets.UTF_8));
            } catch (FerroException | IllegalStateException unreachable) {
                tellNobody();
            }
        }
    }

    private static Optional<LostNode> untold(NodeCard card, String text) {
        return text.startsWith(UNTOLD)
                ? Optional.of(new LostNode(card, "its launcher " + text.substring(UNTOLD.length())))
                : Optional.empty();
    }

    private String announced(Function<Gathered, String> judge) throws InterruptedException {
        Map<Integer, String> texts = new TreeMap<>();
        Map<Integer, LostNode> without = new TreeMap<>();
        for (NodeCard card : cards) {
            CompletableFuture<byte[]> report = reports.get(card.node());
            result(CompletableFuture.anyOf(report, lost.get(card.node())));
            // answers come in order: a report that is there is known behind this one
            store.add(Keys.FAILURES, 0);
            if (report.isDone()) {
                String text = new String(result(report), StandardCharsets.UTF_8);
                untold(card, text)
                        .ifPresentOrElse(one -> without.put(card.node(), one), () -> texts.put(card.node(), text));
            } else {
                without.put(card.node(), result(lost.get(card.node())));
            }
        }
        concluded.set(true);
        String verdict = made(() -> judge.apply(new Gathered(texts, without)), "could not judge");
        send(Keys.VERDICT, verdict);
        farewell();
        if (verdict.startsWith(UNTOLD)) {
            throw new IllegalStateException(untold(own, verdict).orElseThrow().why());
        }
        return verdict;
    }

    private String heard(String own, Function<Gathered, String> judge) throws InterruptedException {
        CompletableFuture<String> verdict = new CompletableFuture<>();
        try {
            store.when(Keys.VERDICT).thenAccept(value -> verdict.complete(new String(value, StandardCharsets.UTF_8)));
        } catch (IllegalStateException | FerroException closed) {
            // node 0 is lost already, or so is this connection, which its watch tells
        }
        result(CompletableFuture.anyOf(verdict, lost.get(0)));
        String text = verdict.isDone() ? result(verdict) : UNTOLD;
        if (!text.startsWith(UNTOLD)) {
            return text;
        }
        Map<Integer, LostNode> without = new TreeMap<>();
        without.put(
                0,
                lost.get(0).isDone()
                        ? result(lost.get(0))
                        : untold(cards.get(0), text).orElseThrow());
        untold(this.own, own).ifPresent(one -> without.put(one.card().node(), one));
        return judge.apply(new Gathered(without.size() == 1 ? Map.of(this.own.node(), own) : Map.of(), without));
    }

    private static <T> T result(CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException failure) {
            throw new CompletionException(failure.getCause());
        }
    }

    /** Waits, on node 0, until all others that are there have read what was told last and are gone. */
    private void farewell() throws InterruptedException {
        if (own.node() != 0) {
            return;
        }
        CompletableFuture<?>[] gone = cards.stream()
                .filter(card -> card.node() != 0)
                .filter(card ->
                        !lost.containsKey(card.node()) || !lost.get(card.node()).isDone())
                .map(card -> store.when(LauncherStore.goneKey(card.node(), card.session()))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(gone).get(FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException stays) {
            // it hears from the end of its connection what it has not read
            return;
        }
    }

    /** Ends the connection; on node 0 this launcher's store may go then. */
    @Override
    public void close() {
        concluded.set(true);
        beating.shutdownNow();
        telling.shutdown();
        connection.close();
    }

    private static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }
}
