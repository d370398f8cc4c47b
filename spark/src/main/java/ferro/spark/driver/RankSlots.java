package ferro.spark.driver;

import ferro.spark.internals.SparkInternals;
import java.time.Duration;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;

/** All ranks of a group run at once, so each needs a slot: what one task takes of an executor. */
final class RankSlots {
    private static final long LOOK_MILLIS = 50;

    private RankSlots() {}

    /** Returns what the tasks of an RDD take; the tasks of its stage take the same. */
    static ResourceProfile profile(SparkContext spark, RDD<?> rdd) {
        return SparkInternals.profile(spark, StageRows.of(rdd));
    }

    /**
     * Waits until executors with enough slots have registered. Spark's own check looks every 15 s.
     *
     * @throws IllegalArgumentException with the arithmetic, if they have not in time
     */
    static void await(SparkContext spark, RDD<?> rdd, int ranks, Duration most) {
        ResourceProfile profile = profile(spark, rdd);
        boolean local = spark.isLocal();
        long start = System.nanoTime();
        int slots = SparkInternals.slots(spark, profile);
        while (slots < ranks) {
            if (local || System.nanoTime() - start >= most.toNanos()) {
                throw new IllegalArgumentException(arithmetic(spark, profile, ranks, slots));
            }
            pause(ranks, slots);
            slots = SparkInternals.slots(spark, profile);
        }
    }

    static boolean isDefault(ResourceProfile profile) {
        return profile.id() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID();
    }

    private static void pause(int ranks, int slots) {
        try {
            Thread.sleep(LOOK_MILLIS);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(
                    "interrupted while waiting for " + ranks + " slots, of which there are " + slots, asked);
        }
    }

    private static String arithmetic(SparkContext spark, ResourceProfile profile, int ranks, int slots) {
        int executors = spark.isLocal()
                ? 1
                : Math.max(0, spark.getExecutorMemoryStatus().size() - 1);
        Object cpus = profile.getTaskCpus().getOrElse(() -> spark.getConf().getInt("spark.task.cpus", 1));
        return ranks + " ranks need " + ranks + " slots at once, found " + slots + ": " + executors
                + (executors == 1 ? " executor" : " executors") + " of "
                + (executors == 0 ? 0 : slots / executors) + " slots each (resource profile " + profile.id()
                + (isDefault(profile) ? ", spark.task.cpus=" : ", cpus of a task ") + cpus + ", task resources "
                + profile.taskResourcesJMap().keySet()
                + "); use .ranks(" + slots + "), or more executors or cores"
                + (spark.isLocal() ? ": local[" + ranks * (int) cpus + "]" : "");
    }
}
