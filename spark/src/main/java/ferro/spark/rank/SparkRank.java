package ferro.spark.rank;

import ferro.group.ProcessGroup;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/** One rank of a job. A rank is a task of a barrier stage. Only the thread of this task may call the methods. */
public interface SparkRank {
    /**
     * {@return the group of all ranks of the job; this rank's number in the group is the number of its partition. The
     * group is closed when the rank's function returns}
     */
    ProcessGroup group();

    /** {@return the number of the current attempt of the job, from 0, which is also the generation of the group} */
    int attempt();

    /**
     * Saves the state of this rank. All ranks must call this method with the same step. When the method returns, the
     * state of all ranks can be restored, even after a crash of this machine. The older state is kept until this method
     * returns.
     *
     * @param step  the number of the step; it must be greater than the step of the last saved state
     * @param state the bytes of this rank; may be empty
     * @throws IOException           if the state cannot be written, or if a later attempt or job has saved in the
     *     same folder
     * @throws IllegalStateException if the job has no folder for checkpoints
     */
    void checkpoint(long step, byte[] state) throws IOException;

    /**
     * Returns the last state that this rank saved. An earlier attempt, or an earlier job with the same folder, may have
     * saved the state. All ranks must call this method. The call writes nothing, so a job that only restores may run
     * while another job saves.
     *
     * @return the state; empty if there is no step that all ranks have saved
     * @throws IOException           if the state cannot be read, is damaged, or was saved by a different number of
     *     ranks
     * @throws IllegalStateException if the job has no folder for checkpoints
     */
    Optional<RestoredState> restore() throws IOException;

    /**
     * Sends a progress report to the driver, at most once a second. Calls within the same second are dropped and cost
     * nothing. Any rank may call this method.
     *
     * @param step   the number of the step
     * @param values the values to show, by name
     */
    void progress(long step, Map<String, Double> values);
}
