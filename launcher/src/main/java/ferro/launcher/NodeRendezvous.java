package ferro.launcher;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.store.LauncherClient;
import ferro.group.SystemContext;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostNameFinder;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.JobStartException;
import ferro.launcher.nodes.GenerationStart;
import ferro.launcher.nodes.LauncherBarrier;
import ferro.launcher.nodes.LauncherConnections;
import ferro.launcher.nodes.LauncherConnections.WaitTimeouts;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.nodes.PrintSchedule;
import ferro.launcher.nodes.WaitListener;
import ferro.launcher.output.Screen;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.LaunchTarget;
import ferro.launcher.rank.CoreBinding.UsableCores;
import ferro.launcher.rank.SignalForwarder;
import ferro.launcher.rank.Supervisor.StopTimeouts;
import ferro.spi.Settings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The rendezvous of the launchers of all nodes before ranks start, in each generation. Not thread-safe. */
final class NodeRendezvous {
    /**
     * How long to wait for a master on loopback at which no process listens. A master on loopback means that all nodes
     * are on this machine, so node 0 must already run or start soon.
     */
    private static final Duration LOOPBACK_PATIENCE = Duration.ofSeconds(2);

    /**
     * Time that is added to the grace time of a signal. In this time, ranks end without a signal, and recordings are
     * read.
     */
    private static final Duration ENDING = Duration.ofMinutes(1);

    private static final long FIRST_LINE_SECONDS = 1;
    /** Longest reason in characters, which is far below the limit for a value in the store. */
    private static final int MOST_CHARACTERS = 16 * 1024;

    private final JobSpec spec;
    private final Screen screen;
    private final Endpoint master;
    private final Duration patience;
    private final String backend;
    private final String host;
    /** The address of the store that this launcher has used. The name service may fail while the job runs. */
    private Optional<InetSocketAddress> reached = Optional.empty();

    private NodeRendezvous(JobSpec spec, CommandContext world, Endpoint master, Map<String, String> settings) {
        this.spec = spec;
        this.screen = world.screen();
        this.master = master;
        try (SystemContext context = SystemContext.of(settings)) {
            this.patience = context.joinTimeout();
            this.backend = Settings.BACKEND.find(context).orElse("");
            this.host = HostNameFinder.in(context);
        }
    }

    static NodeRendezvous of(JobSpec spec, LaunchTarget target, CommandContext world, Endpoint master) {
        return new NodeRendezvous(spec, world, master, BackendChoice.ofFirstRank(spec, target, world.environment()));
    }

    /**
     * Waits until the launchers of all nodes have connected.
     *
     * @param key       name and secret of the launchers
     * @param storePort port of the separate store for ranks that this launcher serves; 0 without such a store
     * @param start     the start of the ranks for which the launchers wait
     * @param signals   signals that this launcher receives
     * @throws BadInputException if the store of node 0 refuses this launcher
     * @throws JobStartException if the options of launchers differ, or if a launcher does not connect, leaves, or
     *     cannot start ranks
     * @throws InterruptedException if a signal ends the wait for the store
     */
    LauncherConnections meet(NamedSecret key, int storePort, GenerationStart start, SignalForwarder signals)
            throws IOException, JobStartException, InterruptedException {
        LauncherClient.ConnectOptions call = call(spec, reached.orElseGet(() -> unresolved(master)), key);
        PrintSchedule lines = new PrintSchedule(System::nanoTime);
        LauncherClient store = connected(call, lines, start);
        reached = Optional.of(store.serverAddress());
        if (start.generation() > 0) {
            // called here and not earlier, because a signal during the end of the ranks must reach the other launchers
            signals.interruptMe();
        }
        WaitTimeouts times =
                new WaitTimeouts(within(start), silence(), spec.signalGrace().plus(ENDING));
        LauncherEntry entry = entry(spec, store, host, backend, storePort, call.session());
        return LauncherConnections.meet(store, entry, times, waiting(lines, signals), start);
    }

    /** Returns callbacks that print while this launcher waits. */
    private WaitListener waiting(PrintSchedule lines, SignalForwarder signals) {
        return new WaitListener() {
            @Override
            public void missing(Set<Integer> nodes) {
                // all nodes have connected, and node 0 only has to publish the start
                if (!nodes.isEmpty() || spec.placement().nodeRank() != 0) {
                    waiting(nodes);
                }
            }

            @Override
            public PrintSchedule lines() {
                return lines;
            }

            @Override
            public void held(LauncherEntry holder) {
                screen.note("another launcher runs as " + holder
                        + ": this one waits until that one is lost and the next generation starts");
            }

            @Override
            public void refused(String text) {
                screen.note(text + "; this job continues to wait");
            }

            @Override
            public JobStartException interrupted() {
                return signals.beforeAnyRank();
            }
        };
    }

    /** Returns an unresolved address, so that the connection tries all addresses of the host. */
    private static InetSocketAddress unresolved(Endpoint store) {
        return InetSocketAddress.createUnresolved(store.host(), store.port());
    }

    private static LauncherClient.ConnectOptions call(JobSpec spec, InetSocketAddress server, NamedSecret key)
            throws IOException {
        return new LauncherClient.ConnectOptions(
                server,
                key.id(),
                SecretFile.read(key.secretFile()),
                spec.placement().nodeRank(),
                new SecureRandom().nextLong());
    }

    private static LauncherEntry entry(
            JobSpec spec, LauncherClient store, String host, String backend, int storePort, long session) {
        return new LauncherEntry(
                spec.placement().nodeRank(),
                host,
                store.localAddress().getHostAddress(),
                spec.placement().ranksHere(),
                spec.placement().nodes(),
                VersionProvider.built(),
                backend,
                spec.debugged().numbers(),
                session,
                UsableCores.ofThisMachine().name(),
                spec.restarts().compared(),
                storePort);
    }

    /** Returns how long the launchers wait for each other before a start. */
    private Duration within(GenerationStart start) {
        return start.generation() == 0 ? patience : spec.nodeTimeout();
    }

    /** Returns the silence after which a node is lost. All ranks can then end within the requested time. */
    private Duration silence() {
        return LauncherConnections.silence(spec.nodeTimeout(), StopTimeouts.TO_THE_END);
    }

    private LauncherClient connected(LauncherClient.ConnectOptions call, PrintSchedule times, GenerationStart start)
            throws InterruptedException, JobStartException {
        Duration within = within(start);
        // in a later generation this launcher has reached the store before
        boolean loopback = start.generation() == 0 && call.node() != 0 && AddressLookup.leadsToLoopback(master.host());
        ScheduledExecutorService lines = LauncherConnections.daemon("ferro-nodes-lines");
        Set<Integer> missing = call.node() == 0 ? Set.of() : Set.of(0);
        Runnable line = () -> {
            times.printed();
            waiting(missing);
        };
        lines.scheduleAtFixedRate(
                line, PrintSchedule.FIRST.toNanos(), PrintSchedule.LATER.toNanos(), TimeUnit.NANOSECONDS);
        try {
            boolean brief = loopback && within.compareTo(LOOPBACK_PATIENCE) > 0;
            return LauncherClient.open(call, brief ? LOOPBACK_PATIENCE : within, within, silence());
        } catch (FerroException failure) {
            throw refused(failure, loopback, start.generation() == 0 ? "ferro.join.timeout" : "--node-timeout");
        } finally {
            lines.shutdownNow();
        }
    }

    private JobStartException refused(FerroException failure, boolean loopback, String limit)
            throws InterruptedException {
        if (failure.code() == Code.INTERRUPTED) {
            Thread.interrupted();
            throw new InterruptedException(failure.getMessage());
        }
        if (failure.code() == Code.UNAUTHENTICATED) {
            throw new BadInputException(
                    "the secret of node " + spec.placement().nodeRank() + " (host " + host
                            + ") differs from the secret of node 0 at " + master
                            + ": the file of --secret-file must have the same"
                            + " content on all nodes (" + failure.getMessage() + ")",
                    failure);
        }
        if (LauncherClient.isRefusal(failure)) {
            throw new BadInputException(failure.getMessage(), failure);
        }
        if (loopback) {
            throw new BadInputException(
                    "--master " + master + " is this host, but no process serves the store here: need an address of"
                            + " node 0 that all nodes can reach; if all nodes are on one machine, start node 0 first",
                    failure);
        }
        String what = spec.placement().nodeRank() == 0
                ? "the store that this launcher serves has not answered: "
                : "node 0 of " + spec.placement().nodes() + " is missing: ";
        return new JobStartException(what + failure.getMessage() + " (" + limit + " sets the time)", ExitCode.FAILED);
    }

    /**
     * Prints which nodes are missing and the command that starts a missing node. Only the launcher of node 0 can list
     * all missing nodes. While node 0 connects to its own store, node 0 waits for no other node.
     */
    private void waiting(Set<Integer> missing) {
        if (missing.isEmpty()) {
            screen.note(
                    spec.placement().nodeRank() == 0
                            ? "node 0 waits for an answer of its own store at " + master
                            : "node 0 at " + master + " is running and waits for other nodes");
            return;
        }
        int nodes = spec.placement().nodes();
        String which = missing.stream().map(Object::toString).collect(Collectors.joining(", "));
        screen.note("waiting for " + (missing.size() == 1 ? "node " : "nodes ") + which + " of " + nodes + ": "
                + command(missing.iterator().next()) + " ... on that host");
    }

    /** Returns the command that starts the launcher of another node, with the options that this launcher knows. */
    private String command(int node) {
        List<Object> words =
                new ArrayList<>(List.of("--nodes", spec.placement().nodes(), "--node-rank", node, "--master", master));
        spec.secretFile().ifPresent(file -> words.addAll(List.of("--secret-file", file)));
        words.addAll(List.of("-n", spec.placement().ranksHere()));
        return Invocation.ofProcess().line("run", words.toArray());
    }

    /**
     * Notifies the other launchers that this node cannot start its ranks. Without the notice, the other launchers would
     * wait for this node until the join timeout. Tries to notify for at most --node-timeout.
     *
     * @param spec    the job, or the known part of the job
     * @param world   environment and output of this launcher
     * @param failure reason why no rank can be started on this node
     * @return failure that all nodes print; empty if the job has one node, or if no other node could be notified
     * @throws InterruptedException if the calling thread is interrupted
     */
    static Optional<JobStartException> unstarted(JobSpec spec, CommandContext world, Exception failure)
            throws InterruptedException {
        if (spec.placement().nodes() == 1 || spec.secretFile().isEmpty()) {
            return Optional.empty();
        }
        boolean badInput = failure instanceof BadInputException;
        String text = badInput ? failure.getMessage() : failure.toString();
        String cut = text.substring(0, Math.min(text.length(), MOST_CHARACTERS));
        JobStartException why = new JobStartException(
                "cannot start its ranks: " + cut, badInput ? ExitCode.BAD_INPUT : ExitCode.FAILED);
        ScheduledExecutorService line = LauncherConnections.daemon("ferro-nodes-lines");
        line.schedule(() -> sayUnstarted(spec, world, cut), FIRST_LINE_SECONDS, TimeUnit.SECONDS);
        try {
            return Optional.of(told(spec, world, why));
        } catch (IOException | FerroException | BadInputException untold) {
            return Optional.empty();
        } finally {
            line.shutdownNow();
        }
    }

    private static JobStartException told(JobSpec spec, CommandContext world, JobStartException why)
            throws IOException, InterruptedException {
        String jobId = RankEnvironment.jobId(spec.placement(), world.environment(), new SecureRandom());
        NamedSecret key = new NamedSecret(jobId, spec.secretFile().get());
        try (RankStore store = RankStore.open(spec, key, new LinkedBlockingQueue<>(), world.screen()::note)) {
            LauncherClient.ConnectOptions call = call(spec, unresolved(store.endpoint()), key);
            try (LauncherClient connection = LauncherClient.open(call, spec.nodeTimeout(), spec.nodeTimeout())) {
                LauncherEntry own =
                        entry(spec, connection, HostNameFinder.in(world.environment()), "", 0, call.session());
                return LauncherBarrier.tell(connection, own, why, spec.nodeTimeout());
            }
        }
    }

    private static void sayUnstarted(JobSpec spec, CommandContext world, String why) {
        world.screen()
                .note("no rank can be started here (" + why.lines().findFirst().orElse("")
                        + "): this launcher tells the" + " other nodes when they connect, for at most "
                        + spec.nodeTimeout().toSeconds() + " s");
    }
}
