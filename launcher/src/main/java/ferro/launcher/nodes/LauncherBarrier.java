package ferro.launcher.nodes;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherClient;
import ferro.launcher.input.JobStartException;
import ferro.launcher.nodes.LauncherConnections.WaitTimeouts;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** The wait of one launcher, before ranks start, until all launchers have connected and their options agree. */
public final class LauncherBarrier {
    /** Longest time from the end of a generation to the start of the next one, if all launchers have connected. */
    private static final Duration LONGEST_HOLD = Duration.ofMinutes(1);

    /**
     * Time from the detection of a lost launcher to the opening of the next generation, if other launchers report
     * slowly. A launcher that was started again waits for the slot of its node for the silence limit plus this time.
     */
    private static final Duration UNTIL_THE_NEXT = Duration.ofSeconds(20);

    /** Longest wait of node 0 for launchers that still read from its store. The store closes after the wait. */
    private static final long OTHERS_GONE_MILLIS = 2_000;

    private final LauncherClient connection;
    private final Store store;
    private final LauncherEntry own;
    private final WaitTimeouts times;
    private final GenerationStart wanted;
    private final ScheduledExecutorService rolling = LauncherConnections.daemon("ferro-nodes-roll");
    private List<LauncherEntry> entries = List.of();
    private StoreKeys keys;

    LauncherBarrier(LauncherClient connection, LauncherEntry own, WaitTimeouts times, GenerationStart wanted) {
        this.connection = connection;
        this.store = connection.store();
        this.own = own;
        this.times = times;
        this.wanted = wanted;
        this.keys = new StoreKeys(wanted.generation());
    }

    /** Waits like {@link LauncherConnections#meet}, and returns the entries of all launchers. Closes the connection on a failure. */
    List<LauncherEntry> meet(WaitListener waiting) throws JobStartException, InterruptedException {
        boolean met = false;
        try {
            entries = allCameOrBegun(waiting);
            met = true;
            return entries;
        } catch (JobStartException apart) {
            LauncherConnections.jobEnds(store, own, apart.exitCode());
            awaitGone(store, own, entries);
            throw apart;
        } finally {
            rolling.shutdownNow();
            if (!met) {
                connection.close();
            }
        }
    }

    /** Returns the keys of the generation for which the launchers have waited. */
    StoreKeys keys() {
        return keys;
    }

    private List<LauncherEntry> allCameOrBegun(WaitListener waiting) throws JobStartException, InterruptedException {
        try {
            allCame(waiting);
            return entries;
        } catch (InterruptedException ended) {
            return begun(waiting.interrupted());
        } catch (FerroException failure) {
            if (failure.code() == FerroException.Code.INTERRUPTED) {
                Thread.interrupted();
                return begun(waiting.interrupted());
            }
            throw failure;
        }
    }

    /**
     * Handles an interrupt. If node 0 has just decided to start with this launcher, returns the launchers. After this
     * decision, this launcher must forward the signal to the other launchers, which ends the ranks. Without this
     * decision, ends the wait.
     */
    private List<LauncherEntry> begun(JobStartException why) throws JobStartException, InterruptedException {
        try {
            StartDecision decided = decided(store, refusal(own, why), keys);
            if (decided.begins() && decided.entries().contains(own)) {
                return decided.entries();
            }
        } catch (FerroException | IllegalStateException gone) {
            // the store is gone, so this launcher cannot have got a decision to start
        }
        throw ended(why);
    }

    /**
     * Publishes that this launcher leaves, and waits until the other launchers have read the message. Before a later
     * start, this launcher also waits a short time for other launchers, because all launchers connect at about the same
     * time.
     */
    private JobStartException ended(JobStartException why) throws InterruptedException {
        Duration within = keys.generation() == 0 ? Duration.ZERO : Duration.ofMillis(OTHERS_GONE_MILLIS);
        JobStartException said = tell(connection, own, why, within, keys);
        awaitGone(store, own, entries);
        return said;
    }

    private void allCame(WaitListener waiting) throws JobStartException, InterruptedException {
        keys = new NodeSlot(store, own, times.silence().plus(UNTIL_THE_NEXT), waiting).taken(wanted);
        store.add(keys.beat(own.node()), 0);
        StartCoordinator roll = new StartCoordinator(store, own, rolling, waiting, keys);
        if (own.node() == 0) {
            roll.call(wanted.hold().toMillis(), times.join().toMillis());
        }
        StartDecision start;
        try {
            start = started(waiting.lines(), () -> waiting.missing(own.node() == 0 ? roll.missing() : Set.of()));
        } finally {
            entries = roll.known();
        }
        if (!start.begins()) {
            throw new JobStartException(start.refusal(), start.code());
        }
        entries = start.entries();
        if (!entries.contains(own)) {
            // the job is complete without this launcher and continues
            throw new JobStartException(
                    entries.get(0).difference(own).orElse(own + " is not among the nodes of this job: " + entries), 2);
        }
    }

    private StartDecision started(PrintSchedule lines, Runnable line) throws JobStartException, InterruptedException {
        CompletableFuture<byte[]> start = store.when(keys.start()).toCompletableFuture();
        long begun = System.nanoTime();
        while (true) {
            try {
                return StoreKeys.decoded(start.get(lines.left().toNanos(), TimeUnit.NANOSECONDS), StartDecision.class);
            } catch (TimeoutException passed) {
                lines.printed();
                line.run();
                refuseLateStart(System.nanoTime() - begun);
            } catch (ExecutionException ended) {
                throw new JobStartException(
                        "node 0 left before a rank was started ("
                                + ended.getCause().getMessage() + "): see the output of its launcher",
                        1);
            }
        }
    }

    /**
     * Ends a long wait for a later generation. Between two generations, no heartbeats show whether node 0 still runs.
     * Before the first generation, node 0 has a deadline itself, and the connection to node 0 is new.
     */
    private void refuseLateStart(long waitedNanos) throws JobStartException {
        long most = LONGEST_HOLD.plus(times.join().multipliedBy(2)).toNanos();
        if (own.node() != 0 && keys.generation() > 0 && waitedNanos > most) {
            throw new JobStartException(
                    "node 0 has not started generation " + keys.generation() + " within "
                            + TimeUnit.NANOSECONDS.toSeconds(waitedNanos) + " s: see the output of its launcher",
                    1);
        }
    }

    /** Waits, on node 0, until launchers of other nodes have read the last message and have disconnected. */
    static void awaitGone(Store store, LauncherEntry own, List<LauncherEntry> launchers) throws InterruptedException {
        if (own.node() != 0) {
            return;
        }
        CompletableFuture<?>[] gone = launchers.stream()
                .filter(entry -> entry.node() != 0)
                .map(entry -> store.when(LauncherClient.goneKey(entry.node(), entry.session()))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(gone).get(OTHERS_GONE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException stays) {
            // a launcher that has missed the message will detect the end of its connection
            return;
        }
    }

    /**
     * Publishes that this node cannot start its ranks, in place of a wait for the other launchers. As a result, no rank
     * starts on any node. The launcher of node 0 stays until the other launchers have read the reason. Interruptible.
     *
     * @param connection connection to the store; stays open
     * @param own        entry of this launcher
     * @param why        reason, in words that follow the name of the node, with the exit code of all launchers
     * @param patience   how long node 0 waits until the other launchers have connected
     * @return failure whose text all nodes print: {@code why}, or an earlier reason of another node
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static JobStartException tell(
            LauncherClient connection, LauncherEntry own, JobStartException why, Duration patience)
            throws InterruptedException {
        return tell(connection, own, why, patience, StoreKeys.FIRST);
    }

    /** Publishes, under the keys of a start, the reason why this node cannot start its ranks. */
    private static JobStartException tell(
            LauncherClient connection, LauncherEntry own, JobStartException why, Duration patience, StoreKeys keys)
            throws InterruptedException {
        StartDecision said = refusal(own, why);
        try {
            Store store = connection.store();
            StartDecision decided = decided(store, said, keys);
            // a job that has started is complete without this launcher, which claims one of its nodes
            said = decided.begins() ? said : decided;
            // the entry shows node 0 that this launcher has connected and has read the decision
            StoreKeys.first(store, keys.card(own.node()), StoreKeys.encoded(own));
            if (own.node() == 0) {
                stay(store, own.nodes(), patience, keys);
            }
        } catch (FerroException | IllegalStateException gone) {
            return new JobStartException(said.refusal(), said.code());
        }
        return new JobStartException(said.refusal(), said.code());
    }

    private static StartDecision refusal(LauncherEntry own, JobStartException why) {
        return StartDecision.refused(own + " " + why.getMessage(), why.exitCode());
    }

    /** Publishes a refusal of the start, unless a decision was already published. Returns the published decision. */
    private static StartDecision decided(Store store, StartDecision refusal, StoreKeys keys) {
        return StoreKeys.decoded(
                store.compareAndSet(keys.start(), null, StoreKeys.encoded(refusal)), StartDecision.class);
    }

    /**
     * Waits, on node 0, until all other launchers have connected, read the reason and disconnected. The wait is needed,
     * because the store of node 0 ends with its launcher.
     */
    private static void stay(Store store, int nodes, Duration patience, StoreKeys keys) throws InterruptedException {
        CompletableFuture<?>[] gone = IntStream.range(1, nodes)
                .mapToObj(node -> store.when(keys.card(node))
                        .thenApply(json -> StoreKeys.decoded(json, LauncherEntry.class))
                        .thenCompose(entry -> store.when(LauncherClient.goneKey(node, entry.session())))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(gone).get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException absent) {
            // a launcher that connects later finds no store
            return;
        }
    }
}
