package ferro.launcher;

import ferro.launcher.GenerationRun.JobContext;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.doctor.NcclVariableSetter;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.DescriptorCheck;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostNameFinder;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.JobStartException;
import ferro.launcher.nodes.GenerationStart;
import ferro.launcher.nodes.LauncherConnections;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.output.RankLogFolder;
import ferro.launcher.output.Screen;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.LaunchTarget;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.program.SettingsCheck;
import ferro.launcher.rank.ChildProcessGuard;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.CoreBinding.UsableCores;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.SignalForwarder;
import ferro.spi.Settings;
import ferro.spi.UnknownSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;

/** One job on this host, from the first start of its ranks, through restarts, to its exit code. */
final class Job {
    private final JobSpec spec;
    private final LaunchTarget target;
    private final CommandContext world;
    private final Map<String, String> environment;
    /** Names that are set for the ranks but are not settings of ferro. */
    private final Set<String> unknown;

    private final Screen screen;
    private final ChildProcessGuard guard;
    private final ProgramFinder programs;
    private final Generations generations;
    private long startedNanos = System.nanoTime();
    private BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private Optional<SignalForwarder> signals = Optional.empty();
    /** The lines about nodes and cores that were printed last. */
    private List<String> shown = List.of();
    /** Whether the rendezvous of the launchers has begun, which also notifies the launchers of other nodes. */
    private boolean meeting;
    /** The rendezvous with the launchers of the other nodes in each generation; empty for a job of one node. */
    private Optional<NodeRendezvous> otherNodes = Optional.empty();

    private boolean endedWell;

    Job(JobSpec spec, LaunchTarget target, CommandContext world) {
        this.spec = spec;
        this.target = target;
        this.world = world;
        Map<String, String> variables =
                new HashMap<>(NcclVariableSetter.addedTo(world.environment(), target.properties()));
        this.unknown = SettingsCheck.unknown(target, variables);
        // an outer launcher may have set this variable
        variables.remove(Settings.WARNED_NAMES.variable());
        if (!unknown.isEmpty()) {
            variables.put(Settings.WARNED_NAMES.variable(), String.join(",", unknown));
        }
        this.environment = Map.copyOf(variables);
        this.screen = world.screen();
        this.programs = ProgramFinder.of(environment);
        this.guard = ChildProcessGuard.find(programs);
        this.generations = new Generations(spec.restarts(), System::nanoTime);
    }

    /** Runs the job. Returns the exit code of the rank that failed first, or 0. */
    int run() throws IOException, InterruptedException {
        try {
            check();
            RankLogFolder log = RankLogFolder.in(spec.logDir(), screen);
            RecordingsFolder recordings = RecordingsFolder.of(target, environment);
            try (JobFolder folder = JobFolder.create(guard, recordings.removable(), environment)) {
                SignalForwarder heard =
                        SignalForwarder.into(events, guard.holds(), screen::hurry, this::signalledEarly);
                signals = Optional.of(heard);
                List<String> command = target.commandLine(folder.path(), fewCores());
                JobSecrets keys = JobSecrets.of(spec, environment, folder);
                meeting = true;
                JobContext parts = new JobContext(
                        spec, target, environment, screen, guard, folder, command, heard, generations, recordings, log);
                try (JobStores stores = new JobStores(spec, keys, screen::note)) {
                    GenerationOutcome end = generation(parts, keys, stores, Duration.ZERO);
                    while (end.restarts()) {
                        screen.note(end.next());
                        events = new LinkedBlockingQueue<>();
                        generations.met(generations.number() + 1);
                        heard.begin(events, generations.number());
                        end = generation(parts, keys, stores, Duration.ofMillis(end.waitMillis()));
                    }
                    GenerationOutcome conclusion = end.ofJob();
                    conclusion.show(screen);
                    endedWell = conclusion.well();
                    return conclusion.code();
                } catch (JobStartException why) {
                    return apart(why);
                }
            } finally {
                settle(recordings);
            }
        } catch (IOException | RuntimeException failure) {
            boolean told = meeting || spec.placement().nodes() == 1;
            Optional<JobStartException> said = told ? Optional.empty() : told(failure);
            if (said.isEmpty()) {
                throw failure;
            }
            return apart(said.get());
        }
    }

    /** Refuses a job that cannot work, and prints notes for the user before a rank starts. */
    private void check() {
        DescriptorCheck.ofThisProcess().check(spec.placement());
        SettingsCheck.check(spec, target, environment);
        BackendChoice.of(spec, target, environment).check(spec.placement().worldSize(), target.mayBringBackends());
        if (ProcessHandle.current().pid() == 1) {
            screen.note(
                    "this JVM is process 1 of its container: it does not reap processes that ranks leave behind, and loses"
                            + " a signal that comes before it listens; start it by the script ferro, or the container with --init");
        }
        unknown.forEach(name -> screen.note(UnknownSettings.text(name)));
    }

    /** Notifies the other nodes that no rank was started on this node. */
    private Optional<JobStartException> told(Exception failure) throws InterruptedException {
        signals.ifPresent(SignalForwarder::interruptMe);
        try {
            return NodeRendezvous.unstarted(spec, world, failure);
        } catch (InterruptedException ended) {
            return Optional.of(endedHere());
        }
    }

    private int apart(JobStartException why) {
        if (why.exitCode() == ExitCode.BAD_INPUT) {
            throw new BadInputException(why.getMessage(), why);
        }
        screen.note(why.getMessage());
        return why.exitCode();
    }

    /**
     * Removes the recordings if they are not needed. A folder that cannot be removed does not change the result of the
     * job.
     */
    private void settle(RecordingsFolder recordings) {
        try {
            recordings.settle(endedWell);
        } catch (IOException failure) {
            screen.note("the folder of the ranks' recordings could not be removed (" + failure + ")");
        }
    }

    /** Runs one generation. A later generation may lack a resource that the first had, such as space on a disk. */
    private GenerationOutcome generation(JobContext parts, JobSecrets keys, JobStores stores, Duration hold)
            throws IOException, InterruptedException, JobStartException {
        boolean first = generations.number() == 0;
        boolean run = false;
        try {
            stores.open(generations.number(), events);
            GenerationOutcome end;
            try (LauncherConnections nodes = met(stores, keys, hold)) {
                NamedSecret key = keys.ofRanks(generations.number());
                UsableCores cores = cores(nodes.entries(), spec.placement().nodeRank(), UsableCores.ofThisMachine());
                CoreBinding binding = CoreBinding.of(spec.placement().ranksHere(), spec.bind(), programs, cores);
                show(nodes.entries(), binding);
                RankStore store = stores.ofRanks(nodes.entries());
                try (GenerationRun one = new GenerationRun(parts, key, events, nodes, store, startedNanos)) {
                    end = one.run(binding);
                } finally {
                    stores.printRefused();
                }
            }
            run = true;
            return end;
        } catch (IOException failure) {
            if (first) {
                throw failure;
            }
            throw new JobStartException(
                    "generation " + generations.number() + " cannot be started on node "
                            + spec.placement().nodeRank() + ": " + failure,
                    ExitCode.FAILED);
        } finally {
            if (!run && !first) {
                GenerationOutcome.listed(generations.lines()).forEach(screen::note);
            }
        }
    }

    /** Prints the nodes, and the ranks and cores of this node, unless all is the same as in the last generation. */
    private void show(List<LauncherEntry> nodes, CoreBinding binding) {
        List<String> lines = new ArrayList<>();
        if (nodes.size() > 1) {
            lines.add("nodes: " + nodes.stream().map(LauncherEntry::toString).collect(Collectors.joining(", ")));
        }
        target.remarks().forEach(lines::add);
        lines.add(startLine(binding));
        if (!lines.equals(shown)) {
            lines.forEach(screen::note);
        }
        shown = lines;
    }

    /** Waits for the launchers of other nodes, if the job has any, and forwards signals to them afterwards. */
    private LauncherConnections met(JobStores stores, JobSecrets keys, Duration hold)
            throws IOException, JobStartException {
        SignalForwarder heard = signals.orElseThrow();
        int number = generations.number();
        boolean alone = spec.placement().nodes() == 1;
        try {
            if (alone && number > 0) {
                heard.holdBack(hold);
            } else if (!alone && number == 0) {
                heard.interruptMe();
            }
            LauncherConnections nodes = alone
                    ? LauncherConnections.alone(LauncherEntry.alone(
                            HostNameFinder.in(BackendChoice.ofFirstRank(spec, target, environment)),
                            spec.placement().ranksHere()))
                    : met(
                            stores,
                            keys.ofJob(),
                            new GenerationStart(number, spec.restarts().areAny(), hold));
            startedNanos = number == 0 ? startedNanos : System.nanoTime();
            if (!alone) {
                nodes.begin(events, screen::hurry);
            }
            if (!alone || number > 0) {
                heard.tell(nodes::signalled);
            }
            return nodes;
        } catch (InterruptedException ended) {
            throw endedHere();
        }
    }

    /** Returns the cores for the ranks of this node. Launchers on one machine divide the cores of the machine. */
    static UsableCores cores(List<LauncherEntry> launchers, int own, UsableCores all) {
        List<Integer> sharing = launchers.stream()
                .filter(other -> other.sharesCores(launchers.get(own)))
                .map(LauncherEntry::node)
                .toList();
        return sharing.contains(own) ? all.part(sharing.indexOf(own), sharing.size()) : all;
    }

    private LauncherConnections met(JobStores stores, NamedSecret key, GenerationStart start)
            throws IOException, JobStartException, InterruptedException {
        if (otherNodes.isEmpty()) {
            otherNodes = Optional.of(NodeRendezvous.of(spec, target, world, stores.meetingPoint()));
        }
        LauncherConnections nodes = otherNodes.get().meet(key, stores.ranksPort(), start, signals.orElseThrow());
        generations.met(nodes.generation());
        return nodes;
    }

    /** Returns the reason for an end by a signal that came before other launchers could be notified. */
    private JobStartException endedHere() {
        JobStartException why = signals.orElseThrow().beforeAnyRank();
        return new JobStartException("node " + spec.placement().nodeRank() + " " + why.getMessage(), why.exitCode());
    }

    /** Handles a signal that does not request the end and comes before a rank runs. */
    private void signalledEarly(String name) {
        if (name.equals("TSTP")) {
            try {
                ChildProcessGuard.stopThisProcess();
            } catch (IOException unstopped) {
                screen.note("the launcher cannot stop itself (" + unstopped.getMessage() + ")");
            } catch (InterruptedException unexpected) {
                // a thread of the JVM for one signal; no code interrupts such a thread
                Thread.currentThread().interrupt();
            }
        } else if (!name.equals("CONT")) {
            screen.note("signal " + name + " arrived before a rank was started, so no rank receives it");
        }
    }

    private boolean fewCores() {
        return Runtime.getRuntime().availableProcessors() < 2 * spec.placement().ranksHere();
    }

    private String startLine(CoreBinding binding) {
        int cores = Runtime.getRuntime().availableProcessors();
        String backend = spec.backend().orElse(environment.getOrDefault("FERRO_BACKEND", "auto"));
        return spec.placement() + " on " + (cores == 1 ? "1 core" : cores + " cores") + ", backend " + backend + ", "
                + binding.reason() + guard.missing().map(why -> ", " + why).orElse("");
    }
}
