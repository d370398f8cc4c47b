package ferro.spark.internals;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import scala.collection.mutable.HashSet;

/** What Spark keeps to itself, or has in newer versions only. */
public final class SparkInternals {
    private SparkInternals() {}

    /** Returns the secret of Spark, which every process of the application has if {@code spark.authenticate} is on. */
    public static Optional<String> secret() {
        return Optional.ofNullable(SparkEnv.get().securityManager().getSecretKey());
    }

    /**
     * Checks that an application runs.
     *
     * @throws IllegalStateException of Spark, with the call that stopped it, if it has been stopped
     */
    public static void checkNotStopped(SparkContext spark) {
        spark.assertNotStopped();
    }

    /** Returns how many tasks of a profile can run at once on the executors that have registered so far. */
    public static int slots(SparkContext spark, ResourceProfile profile) {
        return spark.maxNumConcurrentTasks(profile);
    }

    /**
     * Returns the profile of a stage, as Spark's scheduler finds it: the one that its RDDs have, the default one of the
     * application if none has one, and several merged into one if the application allows that.
     *
     * @throws IllegalArgumentException of Spark, if there are several and it does not
     */
    public static ResourceProfile profile(SparkContext spark, List<RDD<?>> stage) {
        HashSet<ResourceProfile> profiles = new HashSet<>();
        for (RDD<?> one : stage) {
            if (one.getResourceProfile() != null) {
                profiles.addOne(one.getResourceProfile());
            }
        }
        return spark.dagScheduler().mergeResourceProfilesForStage(profiles);
    }

    /**
     * Has Spark look at a function of Scala as it does at those of its own calls: what a closure holds and does not use is
     * dropped.
     *
     * @throws org.apache.spark.SparkException if it cannot be serialized
     */
    public static <F> F cleaned(SparkContext spark, F function) {
        return spark.clean(function, true);
    }

    /** Returns whether an RDD is computed by a barrier stage. */
    public static boolean isBarrier(RDD<?> rdd) {
        return rdd.isBarrier();
    }

    /** Returns the configuration of Hadoop that the settings of the application make, also in an executor. */
    public static Configuration hadoop() {
        return SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    }

    /** Ends a thread that waits at Spark's barrier for other tasks, within a second; the task itself is not killed. */
    public static void endBarrier(BarrierTaskContext task, String reason) {
        task.markInterrupted(reason);
    }

    /**
     * Has a task's thread of Spark call a listener when the task is killed.
     *
     * @param listener receives the reason
     * @return whether this Spark can: 4.2 and newer
     */
    public static boolean onInterrupt(TaskContext task, Consumer<String> listener) {
        Class<?> type;
        Method add;
        try {
            type = Class.forName(
                    "org.apache.spark.util.TaskInterruptListener", false, TaskContext.class.getClassLoader());
            add = TaskContext.class.getMethod("addTaskInterruptListener", type);
        } catch (ClassNotFoundException | NoSuchMethodException older) {
            return false;
        }
        Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            return switch (method.getName()) {
                case "onTaskInterrupted" -> {
                    listener.accept(String.valueOf(given[1]));
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(self);
                case "equals" -> self == given[0];
                default -> "ferro's listener of " + task.taskAttemptId();
            };
        });
        try {
            add.invoke(task, proxy);
            return true;
        } catch (IllegalAccessException | InvocationTargetException changed) {
            throw new IllegalStateException(
                    "cannot listen to the end of task " + task.taskAttemptId() + ": " + changed, changed);
        }
    }
}
