package ferro.launcher;

import ferro.FerroException;
import ferro.backend.tcp.store.LauncherStore;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.HostName;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.NodesApartException;
import ferro.launcher.nodes.LauncherMeeting;
import ferro.launcher.nodes.NodeCard;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A node, one of several, whose ranks cannot be started. Its launcher tells the launchers of the other nodes, which would
 * otherwise wait for it until the deadline of joining.
 *
 * @param spec  the job, or as much as is known of it
 * @param world environment and output of this launcher
 */
record UnstartedNode(JobSpec spec, World world) {
    private static final long FIRST_LINE_SECONDS = 1;
    /** Far below what the store takes as one value. */
    private static final int MOST_CHARACTERS = 16 * 1024;

    /**
     * Tells the other launchers; tries for --node-timeout at most.
     *
     * @param failure why no rank can be started here
     * @return what all nodes print; empty if there is only one node, or if no other node could be told
     * @throws InterruptedException if the calling thread is interrupted
     */
    Optional<NodesApartException> told(Exception failure) throws InterruptedException {
        if (spec.placement().nodes() == 1 || spec.secretFile().isEmpty()) {
            return Optional.empty();
        }
        boolean badInput = failure instanceof BadInputException;
        String text = badInput ? failure.getMessage() : failure.toString();
        String cut = text.substring(0, Math.min(text.length(), MOST_CHARACTERS));
        NodesApartException why = new NodesApartException(
                "cannot start its ranks: " + cut, badInput ? ExitCode.BAD_INPUT : ExitCode.FAILED);
        ScheduledExecutorService line = NodeMeeting.lines();
        line.schedule(() -> say(cut), FIRST_LINE_SECONDS, TimeUnit.SECONDS);
        try {
            return Optional.of(told(why, spec.secretFile().get()));
        } catch (IOException | FerroException | BadInputException untold) {
            return Optional.empty();
        } finally {
            line.shutdownNow();
        }
    }

    private NodesApartException told(NodesApartException why, Path secret) throws IOException, InterruptedException {
        String jobId = RankEnvironment.jobId(spec.placement(), world.environment(), new SecureRandom());
        JobKeys.JobKey key = new JobKeys.JobKey(jobId, secret);
        try (StoreHost store = StoreHost.open(spec, key, new LinkedBlockingQueue<>(), world.screen()::note)) {
            LauncherStore.LauncherCall call = NodeMeeting.call(spec, NodeMeeting.unresolved(store.endpoint()), key);
            try (LauncherStore connection = LauncherStore.open(call, spec.nodeTimeout(), spec.nodeTimeout())) {
                NodeCard own =
                        NodeMeeting.card(spec, connection, HostName.in(world.environment()), "", 0, call.session());
                return LauncherMeeting.tell(connection, own, why, spec.nodeTimeout());
            }
        }
    }

    private void say(String why) {
        world.screen()
                .note("no rank can be started here (" + why.lines().findFirst().orElse("")
                        + "): this launcher tells the" + " other nodes when they connect, for at most "
                        + spec.nodeTimeout().toSeconds() + " s");
    }
}
