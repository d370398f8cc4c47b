package ferro.spark.driver;

import ferro.spark.internals.SparkInternals;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import scala.jdk.javaapi.CollectionConverters;

/** Whether Spark computes an RDD in a barrier stage of so many tasks, by the rules of its scheduler. */
final class BarrierChain {
    private BarrierChain() {}

    /** Returns why a shuffle is needed in front of the ranks; empty if none is. */
    static Optional<String> refusal(RDD<?> rdd, int ranks) {
        int partitions = rdd.getNumPartitions();
        if (partitions != ranks) {
            return Optional.of("it has " + partitions + " partitions for " + ranks + " ranks");
        }
        Deque<RDD<?>> left = new ArrayDeque<>(Set.of(rdd));
        Set<Integer> seen = new HashSet<>();
        while (!left.isEmpty()) {
            RDD<?> one = left.pop();
            if (one.getNumPartitions() != ranks) {
                return Optional.of("its stage computes " + one.getClass().getSimpleName() + " of "
                        + one.getNumPartitions() + " partitions (union, coalesce and filters of partitions do that)");
            }
            if (SparkInternals.isBarrier(one)) {
                return Optional.of("its stage has a barrier already");
            }
            for (Dependency<?> dependency : CollectionConverters.asJava(one.dependencies())) {
                if (!(dependency instanceof ShuffleDependency)
                        && seen.add(dependency.rdd().id())) {
                    left.push(dependency.rdd());
                }
            }
        }
        return Optional.empty();
    }
}
