package ferro.spark.rank;

import java.io.Serializable;
import java.util.Iterator;

/**
 * What each rank does. Spark sends it to the executors, so what it captures must be serializable.
 *
 * @param <T> type of the rows
 * @param <R> type of the result
 */
@FunctionalInterface
public interface RankFunction<T, R> extends Serializable {
    /**
     * Runs one rank to its end. All ranks must make the same calls of the group.
     *
     * @param rank this rank, and its group, which is closed when this returns
     * @param rows rows of this rank's partition, to be read once
     * @return result, which travels to the driver; may be null
     * @throws Exception to end the job on all ranks; the driver's exception names this rank
     */
    R run(SparkRank rank, Iterator<T> rows) throws Exception;
}
