package ferro.spark.task;

import java.io.Serializable;
import java.util.Map;

/**
 * The options that the driver sets for all ranks of a job.
 *
 * @param timeoutMillis the deadline of each call, and the deadline of joining
 * @param settings      the ferro settings by name
 * @param ports         the range of ports on which ranks listen; {@code 0} means any free port
 * @param checkpoints   the URI of the checkpoint folder; null if the job has no such folder
 * @param resultAtAll   true if all ranks send their results to the driver, false if only rank 0 does
 */
public record RankSettings(
        long timeoutMillis, Map<String, String> settings, String ports, String checkpoints, boolean resultAtAll)
        implements Serializable {}
