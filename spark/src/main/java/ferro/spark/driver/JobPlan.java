package ferro.spark.driver;

import ferro.spark.meeting.ProgressReport;
import ferro.spi.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What a user asks for; {@link ferro.spark.FerroSpark} makes it.
 *
 * @param ranks       number of ranks; 0 for as many as partitions
 * @param timeout     deadline of each call of a group, and of joining
 * @param slotTimeout how long a job waits for executors with enough slots
 * @param attempts    most attempts
 * @param retried     names of classes of exceptions of users that are worth another attempt
 * @param checkpoints URI of the folder for state; null for none
 * @param ports       ports of the driver's store and of ranks
 * @param settings    settings of ferro
 * @param meetAtRankZero whether rank 0 serves the store, and not the driver
 * @param progress    receives what ranks report
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
        boolean meetAtRankZero,
        Consumer<ProgressReport> progress) {

    /** The plan of a user who asks for nothing. */
    public static JobPlan standard(Duration timeout, Duration slotTimeout, Consumer<ProgressReport> progress) {
        return new JobPlan(0, timeout, slotTimeout, 1, List.of(), null, PortRange.of("0"), Map.of(), false, progress);
    }

    /** Returns a plan with another number of ranks. */
    public JobPlan withRanks(int count) {
        return new JobPlan(
                count, timeout, slotTimeout, attempts, retried, checkpoints, ports, settings, meetAtRankZero, progress);
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
                meetAtRankZero,
                progress);
    }

    /** Returns a plan that waits so long for executors with enough slots. */
    public JobPlan withSlotTimeout(Duration deadline) {
        return new JobPlan(
                ranks, timeout, deadline, attempts, retried, checkpoints, ports, settings, meetAtRankZero, progress);
    }

    /** Returns a plan with another number of attempts. */
    public JobPlan withAttempts(int most) {
        return new JobPlan(
                ranks, timeout, slotTimeout, most, retried, checkpoints, ports, settings, meetAtRankZero, progress);
    }

    /** Returns a plan with one more exception that is worth another attempt. */
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
                meetAtRankZero,
                progress);
    }

    /** Returns a plan with a folder for state. */
    public JobPlan withCheckpoints(String folder) {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, folder, ports, settings, meetAtRankZero, progress);
    }

    /** Returns a plan with other ports. */
    public JobPlan withPorts(PortRange range) {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, checkpoints, range, settings, meetAtRankZero, progress);
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
                meetAtRankZero,
                progress);
    }

    /** Returns a plan whose ranks meet at rank 0. */
    public JobPlan withMeetingAtRankZero() {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, checkpoints, ports, settings, true, progress);
    }

    /** Returns a plan with another receiver of progress. */
    public JobPlan withProgress(Consumer<ProgressReport> listener) {
        return new JobPlan(
                ranks, timeout, slotTimeout, attempts, retried, checkpoints, ports, settings, meetAtRankZero, listener);
    }
}
