package ferro.launcher;

import ferro.launcher.GenerationRun.JobParts;
import ferro.launcher.JobKeys.JobKey;
import ferro.launcher.doctor.NcclInterfaces;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Descriptors;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostName;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.NodesApartException;
import ferro.launcher.nodes.GenerationStart;
import ferro.launcher.nodes.NodeCard;
import ferro.launcher.nodes.Nodes;
import ferro.launcher.output.RankLog;
import ferro.launcher.output.Screen;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.CheckedSettings;
import ferro.launcher.program.Programs;
import ferro.launcher.program.Recordings;
import ferro.launcher.program.Target;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.CoreBinding.Cores;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.JobSignals;
import ferro.launcher.rank.ProcessGroupGuard;
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
    private final Target target;
    private final CommandContext world;
    private final Map<String, String> environment;
    /** Names that are set for the ranks but are not settings of ferro. */
    private final Set<String> unknown;

    private final Screen screen;
    private final ProcessGroupGuard guard;
    private final Programs programs;
    private final Generations generations;
    private long startedNanos = System.nanoTime();
    private BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private Optional<JobSignals> signals = Optional.empty();
    /** The lines about nodes and cores that were printed last. */
    private List<String> shown = List.of();
    /** Whether the rendezvous of the launchers has begun, which also notifies the launchers of other nodes. */
    private boolean meeting;
    /** The rendezvous with the launchers of the other nodes in each generation; empty for a job of one node. */
    private Optional<NodeMeeting> otherNodes = Optional.empty();

    private boolean endedWell;

    Job(JobSpec spec, Target target, CommandContext world) {
        this.spec = spec;
        this.target = target;
        this.world = world;
        Map<String, String> variables = new HashMap<>(NcclInterfaces.addedTo(world.environment(), target.properties()));
        this.unknown = CheckedSettings.unknown(target, variables);
        // an outer launcher may have set this variable
        variables.remove(Settings.WARNED_NAMES.variable());
        if (!unknown.isEmpty()) {
            variables.put(Settings.WARNED_NAMES.variable(), String.join(",", unknown));
        }
        this.environment = Map.copyOf(variables);
        this.screen = world.screen();
        this.programs = Programs.of(environment);
        this.guard = ProcessGroupGuard.find(programs);
        this.generations = new Generations(spec.restarts(), System::nanoTime);
    }

    /** Runs the job. Returns the exit code of the rank that failed first, or 0. */
    int run() throws IOException, InterruptedException {
        try {
            check();
            RankLog log = RankLog.in(spec.logDir(), screen);
            Recordings recordings = Recordings.of(target, environment);
            try (JobFolder folder = JobFolder.create(guard, recordings.removable(), environment)) {
                JobSignals heard = JobSignals.into(events, guard.holds(), screen::hurry, this::signalledEarly);
                signals = Optional.of(heard);
                List<String> command = target.commandLine(folder.path(), fewCores());
                JobKeys keys = JobKeys.of(spec, environment, folder);
                meeting = true;
                JobParts parts = new JobParts(
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
                } catch (NodesApartException why) {
                    return apart(why);
                }
            } finally {
                settle(recordings);
            }
        } catch (IOException | RuntimeException failure) {
            boolean told = meeting || spec.placement().nodes() == 1;
            Optional<NodesApartException> said = told ? Optional.empty() : told(failure);
            if (said.isEmpty()) {
                throw failure;
            }
            return apart(said.get());
        }
    }

    /** Refuses a job that cannot work, and prints notes for the user before a rank starts. */
    private void check() {
        Descriptors.ofThisProcess().check(spec.placement());
        CheckedSettings.check(spec, target, environment);
        BackendChoice.of(spec, target, environment).check(spec.placement().worldSize(), target.mayBringBackends());
        if (ProcessHandle.current().pid() == 1) {
            screen.note(
                    "this JVM is process 1 of its container: it does not reap processes that ranks leave behind, and loses"
                            + " a signal that comes before it listens; start it by the script ferro, or the container with --init");
        }
        unknown.forEach(name -> screen.note(UnknownSettings.text(name)));
    }

    /** Notifies the other nodes that no rank was started on this node. */
    private Optional<NodesApartException> told(Exception failure) throws InterruptedException {
        signals.ifPresent(JobSignals::interruptMe);
        try {
            return NodeMeeting.unstarted(spec, world, failure);
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

    /**
     * Removes the recordings if they are not needed. A folder that cannot be removed does not change the result of the
     * job.
     */
    private void settle(Recordings recordings) {
        try {
            recordings.settle(endedWell);
        } catch (IOException failure) {
            screen.note("the folder of the ranks' recordings could not be removed (" + failure + ")");
        }
    }

    /** Runs one generation. A later generation may lack a resource that the first had, such as space on a disk. */
    private GenerationOutcome generation(JobParts parts, JobKeys keys, JobStores stores, Duration hold)
            throws IOException, InterruptedException, NodesApartException {
        boolean first = generations.number() == 0;
        boolean run = false;
        try {
            stores.open(generations.number(), events);
            GenerationOutcome end;
            try (Nodes nodes = met(stores, keys, hold)) {
                JobKey key = keys.ofRanks(generations.number());
                Cores cores = cores(nodes.cards(), spec.placement().nodeRank(), Cores.ofThisMachine());
                CoreBinding binding = CoreBinding.of(spec.placement().ranksHere(), spec.bind(), programs, cores);
                show(nodes.cards(), binding);
                StoreHost store = stores.ofRanks(nodes.cards());
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
            throw new NodesApartException(
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
    private void show(List<NodeCard> nodes, CoreBinding binding) {
        List<String> lines = new ArrayList<>();
        if (nodes.size() > 1) {
            lines.add("nodes: " + nodes.stream().map(NodeCard::toString).collect(Collectors.joining(", ")));
        }
        target.remarks().forEach(lines::add);
        lines.add(startLine(binding));
        if (!lines.equals(shown)) {
            lines.forEach(screen::note);
        }
        shown = lines;
    }

    /** Waits for the launchers of other nodes, if the job has any, and forwards signals to them afterwards. */
    private Nodes met(JobStores stores, JobKeys keys, Duration hold) throws IOException, NodesApartException {
        JobSignals heard = signals.orElseThrow();
        int number = generations.number();
        boolean alone = spec.placement().nodes() == 1;
        try {
            if (alone && number > 0) {
                heard.holdBack(hold);
            } else if (!alone && number == 0) {
                heard.interruptMe();
            }
            Nodes nodes = alone
                    ? Nodes.alone(NodeCard.alone(
                            HostName.in(BackendChoice.ofFirstRank(spec, target, environment)),
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
    static Cores cores(List<NodeCard> launchers, int own, Cores all) {
        List<Integer> sharing = launchers.stream()
                .filter(other -> other.sharesCores(launchers.get(own)))
                .map(NodeCard::node)
                .toList();
        return sharing.contains(own) ? all.part(sharing.indexOf(own), sharing.size()) : all;
    }

    private Nodes met(JobStores stores, JobKey key, GenerationStart start)
            throws IOException, NodesApartException, InterruptedException {
        if (otherNodes.isEmpty()) {
            otherNodes = Optional.of(NodeMeeting.of(spec, target, world, stores.meetingPoint()));
        }
        Nodes nodes = otherNodes.get().meet(key, stores.ranksPort(), start, signals.orElseThrow());
        generations.met(nodes.generation());
        return nodes;
    }

    /** Returns the reason for an end by a signal that came before other launchers could be notified. */
    private NodesApartException endedHere() {
        NodesApartException why = signals.orElseThrow().beforeAnyRank();
        return new NodesApartException("node " + spec.placement().nodeRank() + " " + why.getMessage(), why.exitCode());
    }

    /** Handles a signal that does not request the end and comes before a rank runs. */
    private void signalledEarly(String name) {
        if (name.equals("TSTP")) {
            try {
                ProcessGroupGuard.stopThisProcess();
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
