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
 * The options of a job that a user has chosen. {@link ferro.spark.FerroSpark} creates the options. An object that has been returned
 * does not change.
 */
public final class SparkJobOptions implements Cloneable {
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

    private SparkJobOptions() {}

    /** Returns the default options. */
    public static SparkJobOptions standard(Duration timeout, Duration slotTimeout, Consumer<ProgressReport> progress) {
        return new SparkJobOptions()
                .withTimeout(timeout)
                .withSlotTimeout(slotTimeout)
                .withProgress(progress);
    }

    private SparkJobOptions with(Consumer<SparkJobOptions> change) {
        try {
            SparkJobOptions copy = (SparkJobOptions) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns options with another number of ranks. */
    public SparkJobOptions withRanks(int count) {
        return with(copy -> copy.ranks = count);
    }

    /** Returns options with another deadline. */
    public SparkJobOptions withTimeout(Duration deadline) {
        return with(copy -> copy.timeout = deadline);
    }

    /** Returns options with another longest wait for executors with enough slots. */
    public SparkJobOptions withSlotTimeout(Duration deadline) {
        return with(copy -> copy.slotTimeout = deadline);
    }

    /** Returns options with another maximum number of attempts. */
    public SparkJobOptions withAttempts(int max) {
        return with(copy -> copy.attempts = max);
    }

    /** Returns options with one more exception type after which the driver starts another attempt. */
    public SparkJobOptions withRetried(String type) {
        List<String> types = new ArrayList<>(retried);
        types.add(type);
        return with(copy -> copy.retried = List.copyOf(types));
    }

    /** Returns options with a checkpoint folder. */
    public SparkJobOptions withCheckpoints(String folder) {
        return with(copy -> copy.checkpoints = folder);
    }

    /** Returns options with other ports. */
    public SparkJobOptions withPorts(PortRange range) {
        return with(copy -> copy.ports = range);
    }

    /** Returns options with one more setting. */
    public SparkJobOptions withSetting(String name, String value) {
        Map<String, String> all = new TreeMap<>(settings);
        all.put(name, value);
        return with(copy -> copy.settings = Map.copyOf(all));
    }

    /** Returns options with which rank 0 serves the store. */
    public SparkJobOptions withStoreOnRankZero() {
        return with(copy -> copy.storeOnRankZero = true);
    }

    /** Returns options with another listener for progress reports. */
    public SparkJobOptions withProgress(Consumer<ProgressReport> listener) {
        return with(copy -> copy.progress = listener);
    }
}
