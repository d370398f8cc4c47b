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

/** Calls of Spark's internal API, and of API that only newer versions of Spark have. */
public final class SparkApiAccess {
    private SparkApiAccess() {}

    /** Returns Spark's secret. Every process of the application has this secret if {@code spark.authenticate} is on. */
    public static Optional<String> secret() {
        return Optional.ofNullable(SparkEnv.get().securityManager().getSecretKey());
    }

    /**
     * Checks that an application has not been stopped.
     *
     * @throws IllegalStateException if the application has been stopped; Spark throws this exception, and its message
     *     names the call that stopped the application
     */
    public static void checkNotStopped(SparkContext spark) {
        spark.assertNotStopped();
    }

    /** Returns how many tasks of a resource profile can run at once on the executors that have registered so far. */
    public static int slots(SparkContext spark, ResourceProfile profile) {
        return spark.maxNumConcurrentTasks(profile);
    }

    /**
     * Returns the resource profile of a stage, by the rules of Spark's scheduler. If the RDDs of the stage have no
     * profile, returns the default profile of the application. If the RDDs have several profiles, merges them if the
     * application allows merging.
     *
     * @throws IllegalArgumentException if the RDDs have several profiles and the application does not allow merging;
     *     Spark throws this exception
     */
    public static ResourceProfile profile(SparkContext spark, List<RDD<?>> stage) {
        HashSet<ResourceProfile> profiles = new HashSet<>();
        for (RDD<?> one : stage) {
            if (one.getResourceProfile() != null) {
                profiles.add(one.getResourceProfile());
            }
        }
        return spark.dagScheduler().mergeResourceProfilesForStage(profiles);
    }

    /**
     * Cleans a Scala function with Spark's closure cleaner, which Spark also uses for its own calls. The cleaner drops
     * objects that a closure holds and does not use.
     *
     * @throws org.apache.spark.SparkException if the function cannot be serialized
     */
    public static <F> F cleaned(SparkContext spark, F function) {
        return spark.clean(function, true);
    }

    /** Returns whether a barrier stage computes an RDD. */
    public static boolean isBarrier(RDD<?> rdd) {
        return rdd.isBarrier();
    }

    /** Returns the Hadoop configuration of the application's settings. Works in the driver and in executors. */
    public static Configuration hadoop() {
        return SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    }

    /** Ends the wait of a task's thread at Spark's barrier within one second. The task itself is not killed. */
    public static void endBarrier(BarrierTaskContext task, String reason) {
        task.markInterrupted(reason);
    }

    /**
     * Registers a listener that Spark calls when it kills a task. Spark 4.2 and newer support such listeners.
     *
     * @param listener the listener; it receives the reason of the kill
     * @return true if this version of Spark supports such listeners; otherwise nothing is registered
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
        } catch (IllegalAccessException changed) {
            throw new IllegalStateException(
                    "cannot register a kill listener for task " + task.taskAttemptId() + ": " + changed, changed);
        } catch (InvocationTargetException failed) {
            throw ScalaConverter.unchecked("TaskContext.addTaskInterruptListener()", failed.getCause());
        }
    }
}
