package ferro.spark.driver;

import ferro.spark.meeting.ProgressReport;
import ferro.spi.PortRange;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What a user asks for; {@link ferro.spark.FerroSpark} makes it.
 *
 * @param ranks       number of ranks; 0 for as many as partitions
 * @param timeout     deadline of each call of a group, of joining, and of waiting for executors
 * @param attempts    most attempts
 * @param retried     names of classes of exceptions of users that are worth another attempt
 * @param checkpoints URI of the folder for state; null for none
 * @param ports       ports of the driver's store and of ranks
 * @param settings    settings of ferro
 * @param progress    receives what ranks report
 */
public record JobPlan(
        int ranks,
        Duration timeout,
        int attempts,
        List<String> retried,
        String checkpoints,
        PortRange ports,
        Map<String, String> settings,
        Consumer<ProgressReport> progress) {}
