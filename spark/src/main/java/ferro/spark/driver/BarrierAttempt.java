package ferro.spark.driver;

import ferro.spark.failure.RankFailure;
import ferro.spark.rank.RankFunction;
import ferro.spark.rendezvous.DriverStore;
import ferro.spark.rendezvous.DriverStore.JobAttempt;
import ferro.spark.task.BarrierTaskFunction;
import ferro.spark.task.RankSettings;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.util.LongAccumulator;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/** One attempt of a job. An attempt is a Spark job whose last stage is a barrier stage with one task per rank. */
final class BarrierAttempt<T, R> {
    /** The time that tasks have to end after Spark has ended the job. Each task sends its report before it ends. */
    private static final long REPORT_MILLIS = 1_000;

    private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

    private final RDD<T> rdd;
    private final SparkJobOptions plan;
    private final boolean resultAtAll;
    private final LongAccumulator steps;
    private final ClassLoader ofUser;

    BarrierAttempt(RDD<T> rdd, SparkJobOptions plan, boolean resultAtAll, LongAccumulator steps, ClassLoader ofUser) {
        this.rdd = rdd;
        this.plan = plan;
        this.resultAtAll = resultAtAll;
        this.steps = steps;
        this.ofUser = ofUser;
    }

    /**
     * The end of one attempt.
     *
     * @param results the results by rank; null if the attempt failed
     * @param failure the failure; null if the attempt succeeded
     * @param unended descriptions of tasks that have not ended and still occupy their slots
     */
    record AttemptOutcome<R>(List<R> results, FailedAttempt failure, List<String> unended) {}

    AttemptOutcome<R> run(JobAttempt attempt, RankFunction<T, R> function) {
        SparkContext spark = rdd.context();
        String tag = "ferro-" + attempt.job() + "." + attempt.generation();
        TaskTracker tasks = new TaskTracker(tag);
        spark.addSparkListener(tasks);
        spark.addJobTag(tag);
        try (DriverStore store = store(spark, attempt)) {
            try {
                return new AttemptOutcome<>(submitted(store, function, attempt.ranks()), null, List.of());
            } catch (Exception failure) {
                endJob(spark, tag, failure);
                tasks.awaitEnd(REPORT_MILLIS);
                List<RankFailure> reports = new ArrayList<>(store.failures());
                reports.addAll(tasks.unreported(reports));
                // Spark reports a lost executor after the end of the job, so lost() is called last
                FailedAttempt failed = new FailedAttempt(reports, tasks, tasks.lost(), store.isUnreached(), failure);
                return new AttemptOutcome<>(null, failed, unended(attempt, failed, tasks));
            }
        } finally {
            spark.removeJobTag(tag);
            removeListener(spark, tasks);
        }
    }

    /**
     * Removes a listener. Spark throws an InterruptedException here if the thread is interrupted. That exception would
     * replace the failure of the job.
     */
    private static void removeListener(SparkContext spark, TaskTracker tasks) {
        boolean interrupted = Thread.interrupted();
        try {
            spark.removeSparkListener(tasks);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Returns descriptions of the tasks that have not ended, if there is a next attempt. The method first waits for the
     * tasks: the next attempt needs their slots, and without these slots Spark would wait forever.
     */
    private List<String> unended(JobAttempt attempt, FailedAttempt failed, TaskTracker tasks) {
        if (attempt.generation() + 1 >= plan.attempts || !failed.worthAnother(plan.retried)) {
            return List.of();
        }
        tasks.awaitEnd(plan.timeout.toMillis());
        return tasks.unended();
    }

    /** Cancels the Spark job if the driver's thread was interrupted: the interrupt ends only the wait for the job. */
    private static void endJob(SparkContext spark, String tag, Exception failure) {
        if (failure instanceof InterruptedException) {
            // without a reason, which only Spark 4.0 and newer accept
            spark.cancelJobsWithTag(tag);
            Thread.currentThread().interrupt();
        }
    }

    private DriverStore store(SparkContext spark, JobAttempt attempt) {
        return plan.storeOnRankZero
                ? DriverStore.none(spark, attempt)
                : DriverStore.serve(spark, attempt, plan.ports, plan.progress);
    }

    private List<R> submitted(DriverStore store, RankFunction<T, R> function, int ranks) throws Exception {
        RankSettings settings = new RankSettings(
                plan.timeout.toMillis(), plan.settings, plan.ports.toString(), plan.checkpoints, resultAtAll);
        RDD<byte[]> stage = rdd.barrier()
                .mapPartitions(new BarrierTaskFunction<>(store.rendezvous(), settings, function, steps), false, BYTES);
        byte[][] results = new byte[ranks][];
        rdd.context().runJob(stage, new FirstElementFunction(), new ResultHandler(results), BYTES);
        checkInterrupt(ranks);
        List<R> all = new ArrayList<>();
        for (byte[] result : results) {
            all.add(deserialized(result, ofUser));
        }
        return all;
    }

    private static void checkInterrupt(int ranks) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("the thread was interrupted after " + ranks + " ranks had ended");
        }
    }

    /**
     * Deserializes a result. The class loader of the user's function knows the classes of its results. The thread's
     * context class loader knows the classes that came with --jars.
     */
    private static <R> R deserialized(byte[] result, ClassLoader first) throws Exception {
        try {
            return deserializedBy(result, first);
        } catch (Exception unknown) {
            if (!(unknown instanceof ClassNotFoundException || unknown.getCause() instanceof ClassNotFoundException)) {
                throw unknown;
            }
            return deserializedBy(result, Thread.currentThread().getContextClassLoader());
        }
    }

    private static <R> R deserializedBy(byte[] result, ClassLoader loader) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // Spark uses the thread's context class loader to find the classes that it registers with Kryo
        thread.setContextClassLoader(loader);
        try {
            return SparkEnv.get()
                    .serializer()
                    .newInstance()
                    .deserialize(ByteBuffer.wrap(result), loader, ClassTag$.MODULE$.<R>apply(Object.class));
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** A function that returns the only element of a partition. */
    private static final class FirstElementFunction extends AbstractFunction2<TaskContext, Iterator<byte[]>, byte[]>
            implements Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public byte[] apply(TaskContext task, Iterator<byte[]> one) {
            return one.next();
        }
    }

    /** A function that stores each result when it arrives. The function runs in the driver. */
    private static final class ResultHandler extends AbstractFunction2<Object, byte[], BoxedUnit> {
        private final byte[][] results;

        ResultHandler(byte[][] results) {
            this.results = results;
        }

        @Override
        public BoxedUnit apply(Object partition, byte[] result) {
            results[(Integer) partition] = result;
            return BoxedUnit.UNIT;
        }
    }
}
