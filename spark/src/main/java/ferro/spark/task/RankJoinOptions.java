package ferro.spark.task;

import ferro.group.JoinOptions;
import ferro.spark.rendezvous.AttemptRendezvous;
import ferro.spark.rendezvous.JobSecret;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;

/** The options with which a task joins a group, except the address of the store. */
final class RankJoinOptions {
    private static final System.Logger LOG = System.getLogger("ferro.spark");

    private RankJoinOptions() {}

    static JoinOptions options(
            BarrierTaskContext task, AttemptRendezvous store, RankSettings settings, Optional<AssignedGpu> gpu) {
        LocalRank local = LocalRank.of(task);
        int cores = Math.min(Runtime.getRuntime().availableProcessors(), task.cpus() * local.size());
        // the name has the stage and its attempt, so that a second attempt never joins ranks of the first attempt
        JoinOptions options = JoinOptions.of(task.partitionId(), task.getTaskInfos().length)
                .group("stage" + task.stageId() + "." + task.stageAttemptNumber())
                .local(local.rank(), local.size())
                .cores(cores)
                .job(store.job(), store.generation())
                .timeout(Duration.ofMillis(settings.timeoutMillis()));
        if (store.secured()) {
            options = options.secret(secret(store));
        }
        if (!settings.ports().equals("0")) {
            options = options.setting("ferro.tcp.port", settings.ports());
        }
        options = withMemory(options, local, settings.settings());
        if (gpu.isPresent()) {
            options = options.setting("ferro.nccl.device", "" + gpu.get().device());
        }
        return options.settings(settings.settings());
    }

    private static byte[] secret(AttemptRendezvous store) {
        return JobSecret.of(store.jobId())
                .orElseThrow(() -> new IllegalStateException("the driver of job " + store.jobId()
                        + " has a secret, but this executor has none: set spark.authenticate to the same value on"
                        + " both"));
    }

    /** Returns options with the shared memory limit. The user's settings are applied later and override this limit. */
    private static JoinOptions withMemory(JoinOptions options, LocalRank local, Map<String, String> own) {
        SharedMemoryBudget budget =
                SharedMemoryBudget.of(options.settings(own), SparkEnv.get().conf(), local.size());
        JoinOptions sized = options.setting("ferro.shm.bytes", "" + budget.bytes());
        if (local.size() == 1 || budget.fits(local.size())) {
            return sized;
        }
        if (local.rank() == 0) {
            LOG.log(Level.WARNING, budget.refusal(local.size()));
        }
        return sized.setting("ferro.links", "tcp");
    }
}
