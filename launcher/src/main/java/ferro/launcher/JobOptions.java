package ferro.launcher;

import ferro.launcher.input.BadInputException;
import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.JobStartException;
import ferro.launcher.input.Placement;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.rank.CoreBinding;
import ferro.spi.BackendProvider;
import ferro.spi.Services;
import ferro.spi.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of every command that starts ranks. */
final class JobOptions {
    private static final Duration LEAST_SILENCE = Duration.ofSeconds(1);

    @Option(
            names = {"-n", "--ranks"},
            paramLabel = "RANKS",
            description = "ranks to start on this host (default: ${DEFAULT-VALUE})",
            defaultValue = "2")
    private int ranks;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "number of hosts of the job; start ferro run once on each",
            defaultValue = "1")
    private int nodes;

    /** Number of this node; null until parsed. After an earlier error, this launcher must not act as node 0. */
    @Option(names = "--node-rank", paramLabel = "I", description = "number of this host, from 0 (default: 0)")
    private Integer nodeRank;

    @Option(
            names = "--master",
            paramLabel = "HOST:PORT",
            description = "address at which node 0 serves the store (default: a free port on loopback)")
    private String master;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "file with the secret of the job, mode 0600 (default on one host: a fresh secret)")
    private Path secretFile;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            completionCandidates = BackendNames.class,
            description = "back end of every rank (default: the best usable one)")
    private String backend;

    @Option(
            names = "--links",
            paramLabel = "KIND",
            completionCandidates = LinkKinds.class,
            description = "medium between ranks of one host: auto (shared memory if it works, else TCP), tcp, or shm"
                    + " without fallback (default: FERRO_LINKS, else auto)")
    private String links;

    @Option(names = "--log-dir", paramLabel = "DIR", description = "also write rank-R.log and rank-R.err there")
    private Path logDir;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            description = "time after a signal to the ranks until the remaining ranks are killed"
                    + " (default: ${DEFAULT-VALUE})",
            defaultValue = "10s")
    private String grace;

    @Option(
            names = "--node-timeout",
            paramLabel = "TIME",
            description = "time within which the job ends if another node is silent but its connection does not end"
                    + " (default: ${DEFAULT-VALUE})",
            defaultValue = "10s")
    private String nodeTimeout;

    @Option(names = "--no-bind", description = "do not bind ranks to cores")
    private boolean noBind;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** The values of {@code --links}, for shell completion. */
    static final class LinkKinds implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("auto", "tcp", "shm").iterator();
        }
    }

    /** The back ends whose ranks are processes, for shell completion. shm is tcp with shared memory for all links. */
    static final class BackendNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            Set<String> names = new TreeSet<>(Set.of("auto", "shm"));
            Services.each(Services.of(BackendProvider.class), one -> names.add(one.name()), broken -> {});
            names.remove("simulated");
            return names.iterator();
        }
    }

    /** Sets the options that the user has not typed to values of the surrounding batch system, and prints a note. */
    CommandContext settle(CommandContext world) {
        Map<String, String> environment = world.environment();
        CommandContext inside = world;
        if (!typed("--nodes") && !typed("--node-rank")) {
            Optional<SlurmStep> found = SlurmStep.find(environment);
            if (found.isPresent()) {
                take(found.get(), environment);
                world.screen().note(found.get().line());
                inside = world.with("FERRO_JOB_ID", found.get().key());
            } else {
                SlurmStep.unused(environment).ifPresent(world.screen()::note);
            }
        }
        CoreBinding.warning(ranks, environment).ifPresent(world.screen()::note);
        return inside;
    }

    private void take(SlurmStep found, Map<String, String> environment) {
        nodes = found.nodes();
        nodeRank = found.nodeRank();
        master = master == null ? found.master().toString() : master;
        if (secretFile == null) {
            String named = environment.getOrDefault("FERRO_SECRET_FILE", "");
            if (named.isBlank()) {
                throw new BadInputException("this step of Slurm has " + nodes + " nodes: need --secret-file FILE, or"
                        + " FERRO_SECRET_FILE, a file that all nodes can read; create one with: "
                        + Invocation.ofProcess().line("secret", "FILE"));
            }
            secretFile = Path.of(named);
        }
    }

    private boolean typed(String option) {
        return command.commandLine().getParseResult().hasMatchedOption(option);
    }

    /**
     * Creates a job from the typed options. If options of a job on several nodes are wrong, notifies the other nodes.
     *
     * @param inside the result of {@link #settle}
     * @param made   creates the job from {@link #spec}
     */
    Job job(CommandContext inside, Function<JobSpec, Job> made) throws InterruptedException, JobStartException {
        try {
            return made.apply(spec());
        } catch (BadInputException wrong) {
            Optional<JobSpec> readable = readable();
            if (readable.isPresent()) {
                Optional<JobStartException> said = NodeRendezvous.unstarted(readable.get(), inside, wrong);
                if (said.isPresent()) {
                    throw said.get();
                }
            }
            throw wrong;
        }
    }

    /**
     * Notifies other nodes that the parser refuses the options. The number of this node and the options that lead to
     * the other nodes must have been parsed before the error.
     */
    void misread(CommandContext world, String why) {
        if (nodeRank == null) {
            return;
        }
        try {
            Optional<JobSpec> readable = readable();
            if (readable.isPresent()) {
                NodeRendezvous.unstarted(readable.get(), world, new BadInputException(why));
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the part of the job that is needed to notify other nodes; empty if options of this part are wrong. */
    private Optional<JobSpec> readable() {
        try {
            return Optional.of(JobSpec.of(new Placement(1, nodes, nodeRank()), endpoint(), secret()));
        } catch (BadInputException unknown) {
            return Optional.empty();
        }
    }

    private Optional<Endpoint> endpoint() {
        return Optional.ofNullable(master).map(text -> Endpoint.parse("--master", text));
    }

    private Optional<Path> secret() {
        return Optional.ofNullable(secretFile).map(JobFolder::checkSecret);
    }

    private int nodeRank() {
        return nodeRank == null ? 0 : nodeRank;
    }

    /** Checks the options, and returns the job that the user has requested. */
    JobSpec spec() {
        return new JobSpec(
                new Placement(ranks, nodes, nodeRank()),
                endpoint(),
                secret(),
                Optional.ofNullable(backend),
                Optional.ofNullable(links),
                Optional.ofNullable(logDir),
                !noBind,
                time("--grace", grace),
                silence(),
                DebuggedRanks.NONE,
                RestartLimit.NONE);
    }

    private Duration silence() {
        Duration silence = time("--node-timeout", nodeTimeout);
        if (silence.compareTo(LEAST_SILENCE) < 0) {
            throw new BadInputException("--node-timeout " + nodeTimeout + ": need at least " + LEAST_SILENCE.toSeconds()
                    + "s, in which each launcher sends several heartbeats");
        }
        return silence;
    }

    /** Reads a time from the value of an option. */
    static Duration time(String option, String text) {
        try {
            // converts to nanoseconds like the clock, so that a time that does not fit is refused, too
            return Duration.ofNanos(Setting.duration(text).toNanos());
        } catch (IllegalArgumentException | ArithmeticException misread) {
            throw new BadInputException(option + " " + text + ": need a time such as 500ms, 10s or 2m", misread);
        }
    }
}
