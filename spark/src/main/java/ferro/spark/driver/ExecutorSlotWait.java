package ferro.spark.driver;

import ferro.spark.internals.SparkApiAccess;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;

/**
 * The wait for enough slots. A slot is the part of an executor's resources that one task uses. All ranks of a group run
 * at once, so each rank needs a slot.
 */
final class ExecutorSlotWait {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final long POLL_MILLIS = 50;
    private static final long FIRST_LINE_NANOS = 1_000_000_000L;
    private static final long LINE_NANOS = 15_000_000_000L;

    private ExecutorSlotWait() {}

    /** Returns the resource profile of the tasks that compute an RDD. All tasks of one stage have the same profile. */
    static ResourceProfile profile(SparkContext spark, RDD<?> rdd) {
        return SparkApiAccess.profile(spark, StageRdds.of(rdd));
    }

    /**
     * Blocks until executors with enough slots have registered. Logs a line after 1 s of waiting and then every 15 s.
     * This method polls every 50 ms; Spark's own check polls every 15 s.
     *
     * @param timeout the longest wait in a cluster; with a local master the method does not wait, because the number of
     *     slots is fixed
     * @throws IllegalArgumentException if there are too few slots after the timeout; the message counts the slots
     * @throws IllegalStateException    if the application has been stopped, or if the thread is interrupted
     */
    static void await(SparkContext spark, RDD<?> rdd, int ranks, Duration timeout) {
        SparkApiAccess.checkNotStopped(spark);
        ResourceProfile profile = profile(spark, rdd);
        boolean local = spark.isLocal();
        long start = System.nanoTime();
        long nextLine = FIRST_LINE_NANOS;
        int slots = SparkApiAccess.slots(spark, profile);
        while (slots < ranks) {
            long waited = System.nanoTime() - start;
            if (local || waited >= timeout.toNanos()) {
                throw new IllegalArgumentException(arithmetic(spark, profile, ranks, slots, waited));
            }
            if (waited >= nextLine) {
                LOG.log(Level.INFO, line(spark, ranks, slots, waited, timeout));
                nextLine += LINE_NANOS;
            }
            pause(ranks, slots);
            SparkApiAccess.checkNotStopped(spark);
            slots = SparkApiAccess.slots(spark, profile);
        }
    }

    private static String line(SparkContext spark, int ranks, int slots, long waited, Duration timeout) {
        return "waiting for " + ranks + " slots: found " + slots + " on " + executors(spark) + " after "
                + Duration.ofNanos(waited).toSeconds() + " s of " + timeout.toSeconds() + " s (.slotTimeout)";
    }

    static boolean isDefault(ResourceProfile profile) {
        return profile.id() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID();
    }

    private static void pause(int ranks, int slots) {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + ranks + " slots, found " + slots, asked);
        }
    }

    private static String executors(SparkContext spark) {
        int executors = executorCount(spark);
        return executors + (executors == 1 ? " executor" : " executors");
    }

    private static int executorCount(SparkContext spark) {
        return spark.isLocal() ? 1 : Math.max(0, spark.getExecutorMemoryStatus().size() - 1);
    }

    private static String arithmetic(
            SparkContext spark, ResourceProfile profile, int ranks, int slots, long waitedNanos) {
        int executors = executorCount(spark);
        Object cpus = profile.getTaskCpus().getOrElse(() -> spark.getConf().getInt("spark.task.cpus", 1));
        return ranks + " ranks need " + ranks + " slots at once, found " + slots + ": " + executors(spark) + " of "
                + (executors == 0 ? 0 : slots / executors) + " slots each (resource profile " + profile.id()
                + (isDefault(profile) ? ", spark.task.cpus=" : ", CPUs per task ") + cpus + ", task resources "
                + profile.taskResourcesJMap().keySet()
                + "); use .ranks(" + slots + "), or more executors or cores"
                + (spark.isLocal()
                        ? ": local[" + ranks * (int) cpus + "]"
                        : "; waited " + Duration.ofNanos(waitedNanos).toSeconds() + " s (.slotTimeout)");
    }
}
