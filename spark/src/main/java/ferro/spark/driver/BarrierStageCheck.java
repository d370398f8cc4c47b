package ferro.spark.driver;

import ferro.spark.internals.SparkApiAccess;
import java.util.Optional;
import org.apache.spark.rdd.RDD;

/** A check whether Spark can compute an RDD in a barrier stage of a given number of tasks, by its scheduler's rules. */
final class BarrierStageCheck {
    private BarrierStageCheck() {}

    /** Returns the reason why the RDD needs a shuffle before its barrier stage; empty if the RDD needs no shuffle. */
    static Optional<String> refusal(RDD<?> rdd, int ranks) {
        int partitions = rdd.getNumPartitions();
        if (partitions != ranks) {
            return Optional.of("it has " + partitions + " partitions, but the job has " + ranks + " ranks");
        }
        for (RDD<?> one : StageRdds.of(rdd)) {
            if (one.getNumPartitions() != ranks) {
                return Optional.of("its stage also computes a " + one.getClass().getSimpleName() + " of "
                        + one.getNumPartitions() + " partitions (union, coalesce and partition filters cause this)");
            }
            if (SparkApiAccess.isBarrier(one)) {
                return Optional.of("its stage is already a barrier stage");
            }
        }
        return Optional.empty();
    }
}
