package ferro.spark.rank;

import ferro.group.ProcessGroup;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/** One rank of a job: a task of a barrier stage. Only the task's thread may call it. */
public interface SparkRank {
    /**
     * Returns the group of all ranks of the job. It is closed when the rank's function returns.
     *
     * @return group; its rank is the number of the partition
     */
    ProcessGroup group();

    /**
     * Returns which attempt of the job this is.
     *
     * @return 0 for the first
     */
    int attempt();

    /**
     * Saves state of this rank. All ranks call it with the same step. When it returns, the state of all ranks can be restored,
     * also after a crash of this machine; older state stays until then.
     *
     * @param step  number of the step, greater than that of the state saved before
     * @param state bytes of this rank; may be empty
     * @throws IOException           if it cannot be written, or a later attempt or job with the same folder has begun
     * @throws IllegalStateException if the job has no folder for checkpoints
     */
    void checkpoint(long step, byte[] state) throws IOException;

    /**
     * Returns the state that this rank saved last, in an earlier attempt or an earlier job with the same folder. All ranks call
     * it.
     *
     * @return state; empty if none was saved by all ranks
     * @throws IOException           if it cannot be read, is damaged, or was saved by another number of ranks
     * @throws IllegalStateException if the job has no folder for checkpoints
     */
    Optional<RestoredState> restore() throws IOException;

    /**
     * Reports progress to the driver, at most once a second; calls in between cost nothing and are dropped. Any rank may call it.
     *
     * @param step   number of the step
     * @param values what to show, by name
     */
    void progress(long step, Map<String, Double> values);
}
