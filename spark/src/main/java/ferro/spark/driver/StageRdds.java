package ferro.spark.driver;

import ferro.spark.internals.ScalaConverter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;

/** The RDDs that one Spark stage computes: its last RDD, and all RDDs on which it depends without a shuffle. */
final class StageRdds {
    private StageRdds() {}

    /** Returns all RDDs of the stage that computes an RDD. The given RDD is the first element. */
    static List<RDD<?>> of(RDD<?> last) {
        List<RDD<?>> all = new ArrayList<>();
        Deque<RDD<?>> left = new ArrayDeque<>(Set.of(last));
        Set<Integer> seen = new HashSet<>();
        while (!left.isEmpty()) {
            RDD<?> one = left.pop();
            all.add(one);
            for (Dependency<?> dependency : ScalaConverter.dependencies(one)) {
                if (!(dependency instanceof ShuffleDependency)
                        && seen.add(dependency.rdd().id())) {
                    left.push(dependency.rdd());
                }
            }
        }
        return all;
    }
}
