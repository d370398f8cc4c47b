package ferro.launcher;

import ferro.RankEnd;
import ferro.backend.tcp.connect.SecretFile;
import ferro.job.CheckpointReport;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostName;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Restarts;
import ferro.launcher.output.RankLog;
import ferro.launcher.output.RankOutput;
import ferro.launcher.output.Screen;
import ferro.launcher.output.SecretMask;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.Recordings;
import ferro.launcher.program.Target;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.JobSignals;
import ferro.launcher.rank.ProcessGroupGuard;
import ferro.launcher.rank.RankProcess;
import ferro.launcher.rank.Supervisor;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.stream.Collectors;

/** One start of all ranks of a job on this host, until they have ended. A job that never starts again has only one. */
final class GenerationRun implements AutoCloseable {
    private final JobParts job;
    private final JobKeys.JobKey key;
    private final Files files;
    private final SecretMask mask;
    private final BlockingQueue<JobEvent> events;
    private final List<RankProcess> ranks = new ArrayList<>();
    private boolean joined;

    /**
     * The parts of a job that stay for all its generations.
     *
     * @param spec        job as it was requested
     * @param target      program of the ranks
     * @param environment environment variables that ranks inherit
     * @param screen      where output is shown
     * @param leash       ties ranks to this process
     * @param folder      folder of the job
     * @param command     command line of a rank
     * @param signals     signals to this launcher
     */
    record JobParts(
            JobSpec spec,
            Target target,
            Map<String, String> environment,
            Screen screen,
            ProcessGroupGuard leash,
            JobFolder folder,
            List<String> command,
            JobSignals signals) {}

    /**
     * Where the ranks of a generation write.
     *
     * @param recordings recordings of their calls
     * @param log        copies of their output
     */
    record Files(Recordings recordings, RankLog log) {
        /** Returns the files of one generation: a job that may start again has folders for each. */
        Files of(int generation, Restarts restarts) throws IOException {
            return restarts.areAny()
                    ? new Files(recordings.ofGeneration(generation), log.ofGeneration(generation))
                    : this;
        }
    }

    /** Makes a generation whose ranks are not started yet. */
    GenerationRun(JobParts job, JobKeys.JobKey key, Files files, BlockingQueue<JobEvent> events) throws IOException {
        this.job = job;
        this.key = key;
        this.files = files;
        this.events = events;
        this.mask = new SecretMask(SecretFile.read(key.secretFile()));
    }

    /**
     * Starts the ranks and waits until all have ended.
     *
     * @param nodes launchers of all nodes
     * @param store store of the ranks
     */
    GenerationEnd run(JobNodes nodes, StoreHost store, CoreBinding binding) throws IOException, InterruptedException {
        job.signals.ranksStart();
        int number = nodes.generations().number();
        RankEnvironment variables = new RankEnvironment(job.spec, store, key, files.recordings, number);
        Optional<Path> checkpoints =
                job.spec.restarts().areAny() ? Optional.of(job.folder.checkpoints(number)) : Optional.empty();
        Optional<IOException> unstarted = start(binding, variables, checkpoints);
        if (unstarted.isPresent()) {
            return nodes.unstarted(unstarted.get());
        }
        JobEnd end = awaited(nodes);
        long endNanos = end.outcome().heardNanos().orElseGet(System::nanoTime);
        return nodes.conclude(end, new GenerationProgress(joined, lastCheckpoint(checkpoints), endNanos));
    }

    /** Returns the last checkpoint in the report of this host's ranks, and removes the report; empty text if there is none. */
    private String lastCheckpoint(Optional<Path> report) {
        if (report.isEmpty()) {
            return "";
        }
        try {
            OptionalLong step = CheckpointReport.last(report.get());
            java.nio.file.Files.deleteIfExists(report.get());
            return step.isPresent() ? "step " + step.getAsLong() : "";
        } catch (IOException failure) {
            job.screen.note("the last checkpoint of this generation is unknown (" + failure + ")");
            return "";
        }
    }

    private JobEnd awaited(JobNodes nodes) throws InterruptedException {
        job.screen.note(pids() + "; if they hang: " + Invocation.ofProcess().line("dump", files.recordings.folder()));
        Supervisor.JobOutcome outcome = new Supervisor(
                        events, job.screen, Supervisor.StopTimes.of(job.spec, job.target), witness(nodes))
                .await(ranks);
        List<RankOutput> printed = ranks.stream().map(this::output).toList();
        String host = HostName.in(BackendChoice.ofFirstRank(job.spec, job.target, job.environment));
        JobEnd end = new JobEnd(outcome, printed, key.id(), files.recordings, host);
        try {
            end.keep(job.spec.placement(), nodes.lost());
        } catch (IOException failure) {
            job.screen.note("ferro analyze will not know how the ranks ended (" + failure + ")");
        }
        return end;
    }

    private Supervisor.Witness witness(JobNodes nodes) {
        return new Supervisor.Witness() {
            @Override
            public void allJoined() {
                joined = true;
                forgetSecret();
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
                stopped();
            }
        };
    }

    /** Returns the output of a rank without the job's secret: it goes into files, to other hosts and to other ranks. */
    private RankOutput output(RankProcess rank) {
        return rank.output().withLines(mask::masked);
    }

    /** Returns how a rank of this host has ended. */
    private RankEnd end(JobEvent.Ended ended) {
        RankOutput output = output(ranks.get(ended.rank() - job.spec.placement().firstRank()));
        String host = HostName.in(BackendChoice.ofFirstRank(job.spec, job.target, job.environment));
        return RankEnd.of(output.pid(), host, ended.code())
                .bySignal(ExitCode.signal(ended.code()).orElse(""))
                .afterLine(output.lastLine());
    }

    /** Stops this process until it is sent CONT; the ranks are stopped already. */
    private void stopped() throws InterruptedException {
        try {
            job.folder.continueLater(ranks.stream().map(RankProcess::pid).toList());
            ProcessGroupGuard.stopThisProcess();
        } catch (IOException unstopped) {
            job.screen.note("the launcher cannot stop itself (" + unstopped.getMessage() + "): its ranks continue");
            ranks.forEach(rank -> rank.signal("CONT"));
        }
    }

    private String pids() {
        return ranks.stream()
                .map(rank -> "rank " + rank.rank() + " = pid " + rank.pid())
                .collect(Collectors.joining(", "));
    }

    /** Starts the ranks. Returns why one did not start if there are other nodes to tell; throws it on a single node. */
    private Optional<IOException> start(CoreBinding binding, RankEnvironment variables, Optional<Path> checkpoints)
            throws IOException {
        try {
            startAll(binding, variables, checkpoints);
            return Optional.empty();
        } catch (IOException failure) {
            if (job.spec.placement().nodes() == 1) {
                throw failure;
            }
            ranks.forEach(rank -> rank.signal("KILL"));
            return Optional.of(failure);
        }
    }

    private void startAll(CoreBinding binding, RankEnvironment variables, Optional<Path> checkpoints)
            throws IOException {
        RankProcess.JobShared shared =
                new RankProcess.JobShared(job.leash, job.screen, files.log, events, job.spec.debugged());
        for (int local = 0; local < job.spec.placement().ranksHere(); local++) {
            int rank = job.spec.placement().firstRank() + local;
            Map<String, String> environment = variables.of(local, job.environment);
            checkpoints.ifPresent(file -> environment.put(Settings.CHECKPOINT_REPORT.variable(), file.toString()));
            ranks.add(RankProcess.start(
                    rank,
                    binding.wrap(local, job.spec.debugged().commandLine(rank, job.command)),
                    environment,
                    shared));
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

    /** Kills ranks that are left, and removes the folder of their recordings if there are none. */
    @Override
    public void close() throws IOException {
        ranks.forEach(rank -> rank.signal("KILL"));
        if (job.spec.restarts().areAny()) {
            forgetSecret();
            files.recordings.settle(false);
        }
    }
}
