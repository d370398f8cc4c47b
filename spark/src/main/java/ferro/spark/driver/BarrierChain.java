package ferro.spark.driver;

import ferro.spark.internals.SparkInternals;
import java.util.Optional;
import org.apache.spark.rdd.RDD;

/** Whether Spark computes an RDD in a barrier stage of so many tasks, by the rules of its scheduler. */
final class BarrierChain {
    private BarrierChain() {}

    /** Returns why a shuffle is needed in front of the ranks; empty if none is. */
    static Optional<String> refusal(RDD<?> rdd, int ranks) {
        int partitions = rdd.getNumPartitions();
        if (partitions != ranks) {
            return Optional.of("it has " + partitions + " partitions for " + ranks + " ranks");
        }
        for (RDD<?> one : StageRows.of(rdd)) {
            if (one.getNumPartitions() != ranks) {
                return Optional.of("its stage computes " + one.getClass().getSimpleName() + " of "
                        + one.getNumPartitions() + " partitions (union, coalesce and filters of partitions do that)");
            }
            if (SparkInternals.isBarrier(one)) {
                return Optional.of("its stage has a barrier already");
            }
        }
        return Optional.empty();
    }
}
