package ferro.launcher;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;

/** One job on this host, from the start of its ranks to its exit code. */
final class Job {
    private final JobSpec spec;
    private final Target target;
    private final Map<String, String> environment;
    private final Screen screen;
    private final BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private final List<RankProcess> ranks = new ArrayList<>();
    private final Leash leash;
    private final CoreBinding binding;
    private final long startedNanos = System.nanoTime();
    private boolean endedWell;

    Job(JobSpec spec, Target target, World world) {
        this.spec = spec;
        this.target = target;
        this.environment = world.environment();
        this.screen = world.screen();
        Programs programs = Programs.of(environment);
        this.leash = Leash.find(programs);
        this.binding =
                CoreBinding.of(spec.placement().ranksHere(), spec.bind(), programs, CoreBinding.Cores.ofThisMachine());
    }

    /** Runs it; returns the exit code of the rank that failed first, or 0. */
    int run() throws IOException, InterruptedException {
        BackendChoice.of(spec, target, environment).check(spec.placement().worldSize(), target.mayBringBackends());
        RankLog log = RankLog.in(spec.logDir());
        Recordings recordings = Recordings.of(target, environment);
        try {
            return run(log, recordings);
        } finally {
            settle(recordings);
        }
    }

    /** The job has its result by then: a folder that cannot be removed does not change it. */
    private void settle(Recordings recordings) {
        try {
            recordings.settle(endedWell);
        } catch (IOException failure) {
            screen.note("the folder of the ranks' recordings could not be removed (" + failure + ")");
        }
    }

    private int run(RankLog log, Recordings recordings) throws IOException, InterruptedException {
        try (JobFolder folder = JobFolder.create(leash, recordings.removable())) {
            Signals.onEach(name -> events.add(new JobEvent.Signalled(name)));
            List<String> command = target.commandLine(folder.path(), fewCores());
            Path secret = spec.secretFile().isPresent() ? spec.secretFile().get() : folder.writeSecret();
            String jobId = RankEnvironment.jobId(spec.placement(), environment, new SecureRandom());
            try (StoreHost store = StoreHost.open(spec, jobId, secret, events)) {
                screen.note(startLine());
                start(command, new RankEnvironment(spec, store, secret, jobId, recordings), log);
                screen.note(pids() + "; if they hang: ./ferro dump " + recordings.folder());
                Supervisor.Rules rules = Supervisor.Rules.of(spec, target);
                Supervisor.Outcome outcome = new Supervisor(events, screen, rules, () -> forget(folder)).await(ranks);
                List<RankOutput> printed =
                        ranks.stream().map(RankProcess::output).toList();
                return conclude(Postmortem.of(outcome, printed, jobId, recordings));
            } finally {
                ranks.forEach(rank -> rank.signal("KILL"));
            }
        }
    }

    private String pids() {
        return ranks.stream()
                .map(rank -> "rank " + rank.rank() + " = pid " + rank.pid())
                .collect(Collectors.joining(", "));
    }

    private void start(List<String> command, RankEnvironment variables, RankLog log) throws IOException {
        RankProcess.Shared shared = new RankProcess.Shared(leash, screen, log, events);
        for (int local = 0; local < spec.placement().ranksHere(); local++) {
            ranks.add(RankProcess.start(
                    spec.placement().firstRank() + local,
                    binding.wrap(local, command),
                    variables.of(local, environment),
                    shared));
        }
    }

    private boolean fewCores() {
        return Runtime.getRuntime().availableProcessors() < 2 * spec.placement().ranksHere();
    }

    private String startLine() {
        int cores = Runtime.getRuntime().availableProcessors();
        String backend = spec.backend().orElse(environment.getOrDefault("FERRO_BACKEND", "auto"));
        return spec.placement() + " on " + (cores == 1 ? "1 core" : cores + " cores") + ", backend " + backend + ", "
                + binding.reason() + leash.missing().map(why -> ", " + why).orElse("");
    }

    private void forget(JobFolder folder) {
        try {
            folder.removeSecret();
        } catch (IOException failure) {
            screen.note("the job's secret could not be removed early (" + failure + "): it goes with the job");
        }
    }

    private int conclude(Postmortem postmortem) {
        Supervisor.Outcome outcome = postmortem.outcome();
        if (outcome.signal().isPresent()) {
            screen.note("ended by signal " + outcome.signal().get() + ", passed on to all ranks");
            if (postmortem.analysis().isPresent()) {
                screen.note("what ranks recorded before is kept: ./ferro analyze "
                        + postmortem.recordings().folder());
            }
            return outcome.failures().isEmpty()
                    ? ExitCode.OK
                    : ExitCode.ofSignal(outcome.signal().get());
        }
        if (outcome.unshown().isPresent()) {
            screen.note("what ranks print can no longer be shown ("
                    + outcome.unshown().get() + "): the job was stopped");
            return ExitCode.OUTPUT_CLOSED;
        }
        if (outcome.failures().isEmpty()) {
            endedWell = true;
            return ExitCode.OK;
        }
        JobEvent.Ended first = postmortem.first();
        if (!explained(first, outcome)) {
            FailureBox box = postmortem.box((first.atNanos() - startedNanos) / 1e9);
            screen.tell(box.lines(screen.columns(FailureBox.MOST_COLUMNS)));
        }
        return postmortem.code();
    }

    /** Whether rank 0 has said what is wrong with what was typed, and all ranks ended by themselves. */
    private boolean explained(JobEvent.Ended first, Supervisor.Outcome outcome) {
        return target.saysWhatIsWrong()
                && first.code() == ExitCode.BAD_INPUT
                && outcome.stopped().isEmpty();
    }
}
