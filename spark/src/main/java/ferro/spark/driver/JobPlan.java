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
 * The options of a job that a user has chosen. {@link ferro.spark.FerroSpark} creates the plan. A plan that has been returned
 * does not change.
 */
public final class JobPlan implements Cloneable {
    /** The number of ranks; 0 means the number of partitions. */
    int ranks;
    /** The deadline of each call of the group, and of joining the group. */
    Duration timeout;
    /** The longest time that an attempt waits for executors with enough slots. */
    Duration slotTimeout;
    /** The maximum number of attempts. */
    int attempts = 1;
    /** The class names of user exceptions after which the driver starts another attempt. */
    List<String> retried = List.of();
    /** The URI of the checkpoint folder; null if the job has no such folder. */
    String checkpoints;
    /** The ports of the driver's store and of the ranks. */
    PortRange ports = PortRange.of("0");
    /** The ferro settings by name. */
    Map<String, String> settings = Map.of();
    /** Whether rank 0 serves the store; otherwise the driver does. */
    boolean storeOnRankZero;
    /** The listener that receives the progress reports. */
    Consumer<ProgressReport> progress;

    private JobPlan() {}

    /** Returns the plan with the default options. */
    public static JobPlan standard(Duration timeout, Duration slotTimeout, Consumer<ProgressReport> progress) {
        return new JobPlan().withTimeout(timeout).withSlotTimeout(slotTimeout).withProgress(progress);
    }

    private JobPlan with(Consumer<JobPlan> change) {
        try {
            JobPlan copy = (JobPlan) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns a plan with another number of ranks. */
    public JobPlan withRanks(int count) {
        return with(copy -> copy.ranks = count);
    }

    /** Returns a plan with another deadline. */
    public JobPlan withTimeout(Duration deadline) {
        return with(copy -> copy.timeout = deadline);
    }

    /** Returns a plan with another longest wait for executors with enough slots. */
    public JobPlan withSlotTimeout(Duration deadline) {
        return with(copy -> copy.slotTimeout = deadline);
    }

    /** Returns a plan with another maximum number of attempts. */
    public JobPlan withAttempts(int max) {
        return with(copy -> copy.attempts = max);
    }

    /** Returns a plan with one more exception type after which the driver starts another attempt. */
    public JobPlan withRetried(String type) {
        List<String> types = new ArrayList<>(retried);
        types.add(type);
        return with(copy -> copy.retried = List.copyOf(types));
    }

    /** Returns a plan with a checkpoint folder. */
    public JobPlan withCheckpoints(String folder) {
        return with(copy -> copy.checkpoints = folder);
    }

    /** Returns a plan with other ports. */
    public JobPlan withPorts(PortRange range) {
        return with(copy -> copy.ports = range);
    }

    /** Returns a plan with one more setting. */
    public JobPlan withSetting(String name, String value) {
        Map<String, String> all = new TreeMap<>(settings);
        all.put(name, value);
        return with(copy -> copy.settings = Map.copyOf(all));
    }

    /** Returns a plan in which rank 0 serves the store. */
    public JobPlan withStoreOnRankZero() {
        return with(copy -> copy.storeOnRankZero = true);
    }

    /** Returns a plan with another listener for progress reports. */
    public JobPlan withProgress(Consumer<ProgressReport> listener) {
        return with(copy -> copy.progress = listener);
    }
}
