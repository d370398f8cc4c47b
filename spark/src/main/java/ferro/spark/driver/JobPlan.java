package ferro.spark.driver;

import ferro.spark.rendezvous.ProgressReport;
import ferro.spi.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The options of a job that a user has chosen. {@link ferro.spark.FerroSpark} creates the plan.
 *
 * @param ranks       the number of ranks; 0 means the number of partitions
 * @param timeout     the deadline of each call of the group, and of joining the group
 * @param slotTimeout the longest time that an attempt waits for executors with enough slots
 * @param attempts    the maximum number of attempts
 * @param retried     the class names of user exceptions after which the driver starts another attempt
 * @param checkpoints the URI of the checkpoint folder; null if the job has no such folder
 * @param ports       the ports of the driver's store and of the ranks
 * @param settings    the ferro settings by name
 * @param storeOnRankZero true if rank 0 serves the store, false if the driver does
 * @param progress    the listener that receives the progress reports
 */
public record JobPlan(
        int ranks,
        Duration timeout,
        Duration slotTimeout,
        int attempts,
        List<String> retried,
        String checkpoints,
        PortRange ports,
        Map<String, String> settings,
        boolean storeOnRankZero,
        Consumer<ProgressReport> progress) {

    /** Returns the plan with the default options. */
    public static JobPlan standard(Duration timeout, Duration slotTimeout, Consumer<ProgressReport> progress) {
        return new JobPlan(0, timeout, slotTimeout, 1, List.of(), null, PortRange.of("0"), Map.of(), false, progress);
    }

    /** Returns a plan with another number of ranks. */
    public JobPlan withRanks(int count) {
        return new JobPlan(
                count,
                timeout,
                slotTimeout,
                attempts,
                retried,
                checkpoints,
                ports,
                settings,
                storeOnRankZero,
                progress);
    }

    /** Returns a plan with another deadline. */
    public JobPlan withTimeout(Duration deadline) {
        return new JobPlan(
                ranks,
                deadline,
                slotTimeout,
                attempts,
                retried,
                checkpoints,
                ports,
                settings,
                storeOnRankZero,
                progress);
    }

    /** Returns a plan with another longest wait for executors with enough slots. */
    public JobPlan withSlotTimeout(Duration deadline) {
        return new JobPlan(
                ranks, timeout, deadline, attempts, retried, checkpoints, ports, settings, storeOnRankZero, progress);
    }

    /** Returns a plan with another maximum number of attempts. */
    public JobPlan withAttempts(int max) {
        return new JobPlan(
                ranks, timeout, slotTimeout, max, retried, checkpoints, ports, settings, storeOnRankZero, progress);
    }

    /** Returns a plan with one more exception type after which the driver starts another attempt. */
    public JobPlan withRetried(String type) {
        List<String> types = new ArrayList<>(retried);
        types.add(type);
        return new JobPlan(
                ranks,
                timeout,
                slotTimeout,
                attempts,
                List.copyOf(types),
                checkpoints,
                ports,
                settings,
                storeOnRankZero,
                progress);
    }

    /** Returns a plan with a checkpoint folder. */
    public JobPlan withCheckpoints(String folder) {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, folder, ports, settings, storeOnRankZero, progress);
    }

    /** Returns a plan with other ports. */
    public JobPlan withPorts(PortRange range) {
        return new JobPlan(
                ranks,
                timeout,
                slotTimeout,
                attempts,
                retried,
                checkpoints,
                range,
                settings,
                storeOnRankZero,
                progress);
    }

    /** Returns a plan with one more setting. */
    public JobPlan withSetting(String name, String value) {
        Map<String, String> all = new TreeMap<>(settings);
        all.put(name, value);
        return new JobPlan(
                ranks,
                timeout,
                slotTimeout,
                attempts,
                retried,
                checkpoints,
                ports,
                Map.copyOf(all),
                storeOnRankZero,
                progress);
    }

    /** Returns a plan in which rank 0 serves the store. */
    public JobPlan withStoreOnRankZero() {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, checkpoints, ports, settings, true, progress);
    }

    /** Returns a plan with another listener for progress reports. */
    public JobPlan withProgress(Consumer<ProgressReport> listener) {
        return new JobPlan(
                ranks,
                timeout,
                slotTimeout,
                attempts,
                retried,
                checkpoints,
                ports,
                settings,
                storeOnRankZero,
                listener);
    }
}
