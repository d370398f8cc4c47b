package ferro.spark.task;

import java.io.Serializable;
import java.util.Map;

/**
 * What the driver decides for all ranks of a job.
 *
 * @param timeoutMillis deadline of each call, and of joining
 * @param settings      settings of ferro by name
 * @param ports         range of ports that ranks listen on, {@code 0} for any
 * @param checkpoints   URI of the folder for state; null for none
 * @param resultAtAll   whether the results of all ranks travel, or that of rank 0 alone
 */
public record RankSettings(
        long timeoutMillis, Map<String, String> settings, String ports, String checkpoints, boolean resultAtAll)
        implements Serializable {}
