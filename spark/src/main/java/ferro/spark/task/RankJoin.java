package ferro.spark.task;

import ferro.group.JoinOptions;
import ferro.spark.meeting.JobSecret;
import ferro.spark.meeting.StorePlace;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;

/** The options with which a task joins a group, except the address of the store. */
final class RankJoin {
    private static final System.Logger LOG = System.getLogger("ferro.spark");

    private RankJoin() {}

    static JoinOptions options(
            BarrierTaskContext task, StorePlace store, RankSettings settings, Optional<GpuAddress> gpu) {
        HostPlace place = HostPlace.of(task);
        int cores = Math.min(Runtime.getRuntime().availableProcessors(), task.cpus() * place.size());
        // the name has the stage and its attempt, so that a second attempt never joins ranks of the first attempt
        JoinOptions options = JoinOptions.of(task.partitionId(), task.getTaskInfos().length)
                .group("stage" + task.stageId() + "." + task.stageAttemptNumber())
                .local(place.rank(), place.size())
                .cores(cores)
                .job(store.job(), store.generation())
                .timeout(Duration.ofMillis(settings.timeoutMillis()));
        if (store.secured()) {
            options = options.secret(secret(store));
        }
        if (!settings.ports().equals("0")) {
            options = options.setting("ferro.tcp.port", settings.ports());
        }
        options = withMemory(options, place, settings.settings());
        if (gpu.isPresent()) {
            options = options.setting("ferro.nccl.device", "" + gpu.get().device());
        }
        return options.settings(settings.settings());
    }

    private static byte[] secret(StorePlace store) {
        return JobSecret.of(store.jobId())
                .orElseThrow(() -> new IllegalStateException("the driver of job " + store.jobId()
                        + " has a secret, but this executor has none: set spark.authenticate to the same value on"
                        + " both"));
    }

    /** Returns options with the shared memory limit. The user's settings are applied later and override this limit. */
    private static JoinOptions withMemory(JoinOptions options, HostPlace place, Map<String, String> own) {
        SharedMemoryBudget budget =
                SharedMemoryBudget.of(options.settings(own), SparkEnv.get().conf(), place.size());
        JoinOptions sized = options.setting("ferro.shm.bytes", "" + budget.bytes());
        if (place.size() == 1 || budget.fits(place.size())) {
            return sized;
        }
        if (place.rank() == 0) {
            LOG.log(Level.WARNING, budget.refusal(place.size()));
        }
        return sized.setting("ferro.links", "tcp");
    }
}
