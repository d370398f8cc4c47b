package ferro.launcher;

import ferro.RankEnd;
import ferro.backend.tcp.connect.SecretFile;
import ferro.launcher.doctor.NcclInterfaces;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Descriptors;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostName;
import ferro.launcher.input.JobSpec;
import ferro.launcher.nodes.Nodes;
import ferro.launcher.nodes.NodesApartException;
import ferro.launcher.output.RankLog;
import ferro.launcher.output.RankOutput;
import ferro.launcher.output.Screen;
import ferro.launcher.output.SecretMask;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.Programs;
import ferro.launcher.program.Recordings;
import ferro.launcher.program.Target;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.JobSignals;
import ferro.launcher.rank.ProcessGroupGuard;
import ferro.launcher.rank.RankProcess;
import ferro.launcher.rank.Supervisor;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;

/** One job on this host, from the start of its ranks to its exit code. */
final class Job {
    /** The command of a rank, and the cores of each rank. */
    private record BoundCommand(List<String> line, CoreBinding binding) {}

    private final JobSpec spec;
    private final Target target;
    private final World world;
    private final Map<String, String> environment;
    private final Screen screen;
    private final BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private final List<RankProcess> ranks = new ArrayList<>();
    private final ProcessGroupGuard leash;
    private final Programs programs;
    private final long startedNanos = System.nanoTime();
    private Optional<JobSignals> signals = Optional.empty();
    /** Whether the meeting has begun, by which launchers of other nodes, if there are any, hear of this one. */
    private boolean meeting;

    private boolean endedWell;
    private SecretMask mask;

    Job(JobSpec spec, Target target, World world) {
        this.spec = spec;
        this.target = target;
        this.world = world;
        this.environment = NcclInterfaces.addedTo(world.environment(), target.properties());
        this.screen = world.screen();
        this.programs = Programs.of(environment);
        this.leash = ProcessGroupGuard.find(programs);
    }

    /** Runs the job and returns the exit code of the rank that failed first, or 0. */
    int run() throws IOException, InterruptedException {
        try {
            return prepared();
        } catch (IOException | RuntimeException failure) {
            boolean told = meeting || spec.placement().nodes() == 1;
            Optional<NodesApartException> said = told ? Optional.empty() : told(failure);
            if (said.isEmpty()) {
                throw failure;
            }
            return apart(said.get());
        }
    }

    /** Tells the other nodes that no rank was started here. */
    private Optional<NodesApartException> told(Exception failure) throws InterruptedException {
        signals.ifPresent(JobSignals::interruptMe);
        try {
            return new UnstartedNode(spec, world).told(failure);
        } catch (InterruptedException ended) {
            return Optional.of(endedHere());
        }
    }

    private int apart(NodesApartException why) {
        if (why.exitCode() == ExitCode.BAD_INPUT) {
            throw new BadInputException(why.getMessage(), why);
        }
        screen.note(why.getMessage());
        return why.exitCode();
    }

    private int prepared() throws IOException, InterruptedException {
        Descriptors.ofThisProcess().check(spec.placement());
        BackendChoice.of(spec, target, environment).check(spec.placement().worldSize(), target.mayBringBackends());
        RankLog log = RankLog.in(spec.logDir(), screen);
        Recordings recordings = Recordings.of(target, environment);
        try {
            return run(log, recordings);
        } finally {
            settle(recordings);
        }
    }

    /**
     * Removes the recordings if they are of no use. The result of the job is known by then, so a folder that cannot be
     * removed does not change it.
     */
    private void settle(Recordings recordings) {
        try {
            recordings.settle(endedWell);
        } catch (IOException failure) {
            screen.note("the folder of the ranks' recordings could not be removed (" + failure + ")");
        }
    }

    private int run(RankLog log, Recordings recordings) throws IOException, InterruptedException {
        try (JobFolder folder = JobFolder.create(leash, recordings.removable(), environment)) {
            signals = Optional.of(JobSignals.into(
                    events, leash.holds(), new JobSignals.SignalListeners(screen::hurry, this::signalledEarly)));
            List<String> command = target.commandLine(folder.path(), fewCores());
            Path secret = spec.secretFile().isPresent() ? spec.secretFile().get() : folder.writeSecret();
            String jobId = RankEnvironment.jobId(spec.placement(), environment, new SecureRandom());
            meeting = true;
            try (StoreHost store = StoreHost.open(spec, jobId, secret, events, screen::note);
                    JobNodes nodes = met(store, jobId, secret)) {
                mask = new SecretMask(SecretFile.read(secret));
                target.remarks().forEach(screen::note);
                CoreBinding binding =
                        CoreBinding.of(spec.placement().ranksHere(), spec.bind(), programs, nodes.cores());
                screen.note(startLine(binding));
                signals.get().ranksStart();
                RankEnvironment variables = new RankEnvironment(spec, store, secret, jobId, recordings);
                Optional<IOException> unstarted = start(new BoundCommand(command, binding), variables, log);
                Conclusion conclusion = unstarted.isPresent()
                        ? nodes.unstarted(unstarted.get())
                        : nodes.conclude(awaited(folder, nodes, jobId, recordings));
                conclusion.show(screen);
                endedWell = conclusion.well();
                return conclusion.code();
            } catch (NodesApartException why) {
                return apart(why);
            } finally {
                ranks.forEach(rank -> rank.signal("KILL"));
            }
        }
    }

    /** Waits for the launchers of other nodes, if there are any, and passes signals on to them from then on. */
    private JobNodes met(StoreHost store, String jobId, Path secret) throws IOException, NodesApartException {
        int own = spec.placement().nodeRank();
        if (spec.placement().nodes() == 1) {
            return new JobNodes(Optional.empty(), store.server(), own, target.saysWhatIsWrong(), startedNanos);
        }
        JobSignals heard = signals.orElseThrow();
        heard.interruptMe();
        try {
            Nodes met = NodeMeeting.of(spec, target, world, store.endpoint()).meet(jobId, secret, heard);
            JobNodes nodes =
                    new JobNodes(Optional.of(met), store.server(), own, target.saysWhatIsWrong(), startedNanos);
            nodes.begin(events, screen);
            heard.tell(nodes::signalled);
            return nodes;
        } catch (InterruptedException ended) {
            throw endedHere();
        }
    }

    /** Returns the reason to end after a signal that came before any other launcher could be told. */
    private NodesApartException endedHere() {
        NodesApartException why = signals.orElseThrow().beforeAnyRank();
        return new NodesApartException("node " + spec.placement().nodeRank() + " " + why.getMessage(), why.exitCode());
    }

    private JobEnd awaited(JobFolder folder, JobNodes nodes, String jobId, Recordings recordings)
            throws InterruptedException {
        screen.note(pids() + "; if they hang: " + Invocation.ofProcess().line("dump", recordings.folder()));
        Supervisor.JobOutcome outcome = new Supervisor(
                        events, screen, Supervisor.StopTimes.of(spec, target), witness(folder, nodes))
                .await(ranks);
        List<RankOutput> printed = ranks.stream().map(RankProcess::output).toList();
        String host = HostName.in(BackendChoice.ofFirstRank(spec, target, environment));
        JobEnd end = new JobEnd(outcome, printed, jobId, recordings, host);
        try {
            end.keep(spec.placement(), nodes.lost(), mask);
        } catch (IOException failure) {
            screen.note("ferro analyze will not know how the ranks ended (" + failure + ")");
        }
        return end;
    }

    private Supervisor.Witness witness(JobFolder folder, JobNodes nodes) {
        return new Supervisor.Witness() {
            @Override
            public void allJoined() {
                forget(folder);
                nodes.allJoined();
            }

            @Override
            public void failed(JobEvent.Ended ended) {
                nodes.failed(ended);
            }

            @Override
            public void ended(JobEvent.Ended ended) {
                nodes.ended(ended.rank(), end(ended));
            }

            @Override
            public void unshown() {
                nodes.unshown();
            }

            @Override
            public void standStill() throws InterruptedException {
                stopped(folder);
            }
        };
    }

    /** Returns how a rank of this host has ended, without the secret in its last line. */
    private RankEnd end(JobEvent.Ended ended) {
        RankOutput output =
                ranks.get(ended.rank() - spec.placement().firstRank()).output();
        return RankEnd.of(output.pid(), HostName.in(BackendChoice.ofFirstRank(spec, target, environment)), ended.code())
                .bySignal(ExitCode.signal(ended.code()).orElse(""))
                .afterLine(mask.masked(output.lastLine()));
    }

    /** Answers a signal that asks for no end and comes before there is a rank to pass it on to. */
    private void signalledEarly(String name) {
        if (name.equals("TSTP")) {
            try {
                ProcessGroupGuard.stopThisProcess();
            } catch (IOException unstopped) {
                screen.note("the launcher cannot stop itself (" + unstopped.getMessage() + ")");
            } catch (InterruptedException unexpected) {
                // a thread of the JVM for one signal, which nobody interrupts
                Thread.currentThread().interrupt();
            }
        } else if (!name.equals("CONT")) {
            screen.note("signal " + name + " arrived before a rank was started, so no rank receives it");
        }
    }

    /** Stops this process until it is sent CONT; the ranks are stopped already. */
    private void stopped(JobFolder folder) throws InterruptedException {
        try {
            folder.continueLater(ranks.stream().map(RankProcess::pid).toList());
            ProcessGroupGuard.stopThisProcess();
        } catch (IOException unstopped) {
            screen.note("the launcher cannot stop itself (" + unstopped.getMessage() + "): its ranks continue");
            ranks.forEach(rank -> rank.signal("CONT"));
        }
    }

    private String pids() {
        return ranks.stream()
                .map(rank -> "rank " + rank.rank() + " = pid " + rank.pid())
                .collect(Collectors.joining(", "));
    }

    /**
     * Starts the ranks. Returns why a rank could not be started if there are other nodes to tell; throws it on a single
     * node.
     */
    private Optional<IOException> start(BoundCommand command, RankEnvironment variables, RankLog log)
            throws IOException {
        try {
            startAll(command, variables, log);
            return Optional.empty();
        } catch (IOException failure) {
            if (spec.placement().nodes() == 1) {
                throw failure;
            }
            ranks.forEach(rank -> rank.signal("KILL"));
            return Optional.of(failure);
        }
    }

    private void startAll(BoundCommand command, RankEnvironment variables, RankLog log) throws IOException {
        RankProcess.JobShared shared = new RankProcess.JobShared(leash, screen, log, events, spec.debugged());
        for (int local = 0; local < spec.placement().ranksHere(); local++) {
            int rank = spec.placement().firstRank() + local;
            ranks.add(RankProcess.start(
                    rank,
                    command.binding.wrap(local, spec.debugged().commandLine(rank, command.line)),
                    variables.of(local, environment),
                    shared));
        }
    }

    private boolean fewCores() {
        return Runtime.getRuntime().availableProcessors() < 2 * spec.placement().ranksHere();
    }

    private String startLine(CoreBinding binding) {
        int cores = Runtime.getRuntime().availableProcessors();
        String backend = spec.backend().orElse(environment.getOrDefault("FERRO_BACKEND", "auto"));
        return spec.placement() + " on " + (cores == 1 ? "1 core" : cores + " cores") + ", backend " + backend + ", "
                + binding.reason() + leash.missing().map(why -> ", " + why).orElse("");
    }

    private void forget(JobFolder folder) {
        try {
            folder.removeSecret();
        } catch (IOException failure) {
            screen.note(
                    "the job's secret could not be removed early (" + failure + "): it is removed when the job ends");
        }
    }
}
