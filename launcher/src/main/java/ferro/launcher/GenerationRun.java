package ferro.launcher;

import com.google.gson.Gson;
import ferro.RankEnd;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.store.EndedRanks;
import ferro.job.CheckpointReport;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.ProcessEnds;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobSpec;
import ferro.launcher.nodes.LauncherConnections;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.RankLogFolder;
import ferro.launcher.output.RankOutput;
import ferro.launcher.output.Screen;
import ferro.launcher.output.SecretMasker;
import ferro.launcher.program.LaunchTarget;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.rank.ChildProcessGuard;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.RankProcess;
import ferro.launcher.rank.RankProcess.JobResources;
import ferro.launcher.rank.SignalForwarder;
import ferro.launcher.rank.Supervisor;
import ferro.launcher.rank.Supervisor.JobOutcome;
import ferro.launcher.rank.Supervisor.StopTimeouts;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One generation of a job on this host: from the start of all ranks to their ends. A restart begins a new one. */
final class GenerationRun implements Supervisor.JobEventListener, AutoCloseable {
    private final JobContext job;
    private final NamedSecret key;
    private final RecordingsFolder recordings;
    private final RankLogFolder log;
    private final SecretMasker mask;
    private final BlockingQueue<JobEvent> events;
    private final LauncherConnections nodes;
    private final RankStore store;
    private final long startedNanos;
    private final List<RankProcess> ranks = new ArrayList<>();
    /** Whether all ranks have joined. Only node 0 needs this field. */
    private boolean joined;
    /** Last checkpoint that the ranks have published, such as {@code step 40}; empty if unknown. */
    private String checkpoint = "";
    /** {@link System#nanoTime} when this launcher received the first failure, or when all ranks had ended. */
    private long endNanos;

    /**
     * The parts of a job that are the same in all its generations.
     *
     * @param spec        job as the user has requested it
     * @param target      program of the ranks
     * @param environment environment variables that ranks inherit
     * @param screen      prints the output of ranks and launcher
     * @param guard       guard that ends ranks together with this process
     * @param folder      folder of the job
     * @param command     command line of a rank
     * @param signals     signals that this launcher receives
     * @param generations the generations of the job
     * @param recordings  flight recordings of the ranks
     * @param log         copies of the output of ranks
     */
    record JobContext(
            JobSpec spec,
            LaunchTarget target,
            Map<String, String> environment,
            Screen screen,
            ChildProcessGuard guard,
            JobFolder folder,
            List<String> command,
            SignalForwarder signals,
            Generations generations,
            RecordingsFolder recordings,
            RankLogFolder log) {}

    /**
     * Creates a generation whose ranks are not started yet.
     *
     * @param nodes        launchers of all nodes
     * @param store        store of the ranks
     * @param startedNanos time at which this launcher started the generation
     */
    GenerationRun(
            JobContext job,
            NamedSecret key,
            BlockingQueue<JobEvent> events,
            LauncherConnections nodes,
            RankStore store,
            long startedNanos)
            throws IOException {
        this.job = job;
        this.key = key;
        // a job that may start again has separate folders for each generation
        int number = job.generations.number();
        boolean again = job.spec.restarts().areAny();
        this.recordings = again ? job.recordings.ofGeneration(number) : job.recordings;
        this.log = again ? job.log.ofGeneration(number) : job.log;
        this.events = events;
        this.nodes = nodes;
        this.store = store;
        this.startedNanos = startedNanos;
        this.mask = new SecretMasker(SecretFile.read(key.secretFile()));
    }

    /** Starts the ranks, waits until all ranks have ended, and makes the conclusion from the ends on all nodes. */
    GenerationOutcome run(CoreBinding binding) throws IOException, InterruptedException {
        job.signals.ranksStart();
        int number = job.generations.number();
        RankEnvironment variables = new RankEnvironment(job.spec, store, key, recordings, number);
        Optional<Path> checkpoints =
                job.spec.restarts().areAny() ? Optional.of(job.folder.checkpoints(number)) : Optional.empty();
        Optional<IOException> unstarted = start(binding, variables, checkpoints);
        if (unstarted.isPresent()) {
            // no rank of this node can run, so the job ends on all nodes
            nodes.ended(ExitCode.FAILED);
            String why = LauncherConnections.untold(
                    "could not start its ranks: " + unstarted.get().getMessage());
            endNanos = System.nanoTime();
            return concluded(orders -> why);
        }
        job.screen.note(pids() + "; if they hang: " + Invocation.ofProcess().line("dump", recordings.folder()));
        JobOutcome outcome =
                new Supervisor(events, job.screen, StopTimeouts.of(job.spec, job.target), this).await(ranks);
        NodeReport own = NodeReport.of(outcome, ranks.stream().map(this::output).toList(), recordings, startedNanos);
        keep(own);
        endNanos = outcome.heardNanos() == null ? System.nanoTime() : outcome.heardNanos();
        checkpoint = lastCheckpoint(checkpoints);
        if (nodes.isAlone()) {
            return judged(Map.of(0, own), List.of(), ends -> recordings.analyzed(key.id(), ends), List.of());
        }
        NodeReport report = own.reported(recordings.brief(key.id()));
        return concluded(orders -> report.ordered(orders).encoded());
    }

    private void keep(NodeReport own) {
        try {
            own.keep(recordings, key.id(), job.spec.placement(), nodes.lost());
        } catch (IOException failure) {
            job.screen.note("ferro analyze will not know how the ranks ended (" + failure + ")");
        }
    }

    /** Waits for the reports of the other nodes, and makes the conclusion from all reports. */
    private GenerationOutcome concluded(Function<Map<Integer, Long>, String> report) throws InterruptedException {
        String verdict = nodes.conclude(report, gathered -> {
            Map<Integer, NodeReport> reports = new TreeMap<>();
            gathered.reports().forEach((node, text) -> reports.put(node, NodeReport.decoded(text)));
            List<String> notes = new ArrayList<>();
            List<LostNode> lost = List.copyOf(gathered.lost().values());
            return new Gson()
                    .toJson(judged(
                            reports, lost, ends -> NodeReport.analyzed(reports.values(), ends, notes::add), notes));
        });
        GenerationOutcome end = new Gson().fromJson(verdict, GenerationOutcome.class);
        job.generations.heard(end);
        return end;
    }

    private GenerationOutcome judged(
            Map<Integer, NodeReport> reports,
            List<LostNode> lost,
            Function<ProcessEnds, Optional<Analysis>> analyzed,
            List<String> notes) {
        Postmortem postmortem = Postmortem.of(reports, nodes.entries(), startedNanos, analyzed);
        GenerationOutcome conclusion = GenerationOutcome.of(
                        postmortem, lost, startedNanos, job.target.saysWhatIsWrong())
                .after(notes);
        double seconds = (System.nanoTime() - startedNanos) / 1e9;
        GenerationOutcome end = job.spec.placement().nodeRank() == 0
                ? job.generations.ended(conclusion, joined, checkpoint, endNanos, seconds)
                : job.generations.endedAlone(conclusion, checkpoint, seconds);
        if (!end.restarts()) {
            nodes.jobEnds(conclusion.code());
        }
        return end;
    }

    /** Returns the last checkpoint in the report file of this host's ranks, or empty. Removes the file. */
    private String lastCheckpoint(Optional<Path> report) {
        if (report.isEmpty()) {
            return "";
        }
        try {
            OptionalLong step = CheckpointReport.last(report.get());
            Files.deleteIfExists(report.get());
            return step.isPresent() ? "step " + step.getAsLong() : "";
        } catch (IOException failure) {
            job.screen.note("the last checkpoint of this generation is unknown (" + failure + ")");
            return "";
        }
    }

    @Override
    public void allJoined() {
        joined = true;
        forgetSecret();
        nodes.joined();
    }

    @Override
    public void failed(JobEvent.RankEndEvent ended) {
        nodes.failed(ended.rank(), ended.code());
    }

    /** Publishes how a rank of this host has ended, for the ranks of all nodes. */
    @Override
    public void ended(JobEvent.RankEndEvent ended) {
        RankOutput output = output(ranks.get(ended.rank() - job.spec.placement().firstRank()));
        String host = nodes.entries().get(job.spec.placement().nodeRank()).host();
        RankEnd end = RankEnd.of(output.pid(), host, ended.code())
                .bySignal(ExitCode.signal(ended.code()).orElse(""))
                .afterLine(output.lastLine());
        if (nodes.isAlone()) {
            store.server().ifPresent(server -> server.set(EndedRanks.key(ended.rank()), EndedRanks.value(end)));
        } else {
            nodes.ended(ended.rank(), end);
        }
    }

    /** Ends the job on all nodes, because this node can no longer show the output of its ranks. */
    @Override
    public void unshown() {
        nodes.ended(ExitCode.OUTPUT_CLOSED);
    }

    /** Suspends this process until it receives CONT. The ranks are already suspended. */
    @Override
    public void standStill() throws InterruptedException {
        try {
            job.folder.continueLater(ranks.stream().map(RankProcess::pid).toList());
            ChildProcessGuard.stopThisProcess();
        } catch (IOException unstopped) {
            job.screen.note("the launcher cannot stop itself (" + unstopped.getMessage() + "): its ranks continue");
            ranks.forEach(rank -> rank.signal("CONT"));
        }
    }

    /** Returns a rank's output without the job's secret, for files, other hosts and other ranks. */
    private RankOutput output(RankProcess rank) {
        return rank.output().withLines(mask::masked);
    }

    private String pids() {
        return ranks.stream()
                .map(rank -> "rank " + rank.rank() + " = pid " + rank.pid())
                .collect(Collectors.joining(", "));
    }

    /** Starts the ranks. Returns why a rank did not start, for other nodes. On a single node, throws this reason. */
    private Optional<IOException> start(CoreBinding binding, RankEnvironment variables, Optional<Path> checkpoints)
            throws IOException {
        JobResources shared = new JobResources(job.guard, job.screen, log, events, job.spec.debugged());
        try {
            for (int local = 0; local < job.spec.placement().ranksHere(); local++) {
                int rank = job.spec.placement().firstRank() + local;
                List<String> command = job.spec.debugged().commandLine(rank, job.command);
                Map<String, String> environment = variables.of(local, job.environment);
                checkpoints.ifPresent(file -> environment.put(Settings.CHECKPOINT_REPORT.variable(), file.toString()));
                ranks.add(RankProcess.start(rank, binding.wrap(local, command), environment, shared));
            }
            return Optional.empty();
        } catch (IOException failure) {
            if (job.spec.placement().nodes() == 1) {
                throw failure;
            }
            ranks.forEach(rank -> rank.signal("KILL"));
            return Optional.of(failure);
        }
    }

    private void forgetSecret() {
        try {
            job.folder.removeSecret(key.secretFile());
        } catch (IOException failure) {
            job.screen.note(
                    "the job's secret could not be removed early (" + failure + "): it is removed when the job ends");
        }
    }

    /** Kills the ranks that still run, and removes the folder of their recordings if the folder is empty. */
    @Override
    public void close() throws IOException {
        ranks.forEach(rank -> rank.signal("KILL"));
        if (job.spec.restarts().areAny()) {
            forgetSecret();
            recordings.settle(false);
        }
    }
}
