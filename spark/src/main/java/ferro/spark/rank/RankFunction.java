package ferro.spark.rank;

import java.io.Serializable;
import java.util.Iterator;

/**
 * The function that each rank runs. Spark sends the function to the executors, so everything that it captures must be
 * serializable.
 *
 * @param <T> type of the rows
 * @param <R> type of the result
 */
@FunctionalInterface
public interface RankFunction<T, R> extends Serializable {
    /**
     * Runs the program of one rank. All ranks must make the same calls on their group.
     *
     * @param rank this rank; its group is closed when this method returns
     * @param rows the rows of this rank's partition; they can be read only once
     * @return the result, which Spark sends to the driver; may be null
     * @throws Exception if this rank fails; the job then ends on all ranks, and the driver's exception names this rank
     */
    R run(SparkRank rank, Iterator<T> rows) throws Exception;
}
