package ferro.spark;

import ferro.spark.driver.JobAttempts;
import ferro.spark.driver.SparkJobOptions;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.internals.ScalaConverter;
import ferro.spark.internals.SparkApiAccess;
import ferro.spark.rank.RankFunction;
import ferro.spark.rank.SparkRank;
import ferro.spark.rendezvous.ProgressReport;
import ferro.spi.PortRange;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import scala.Function2;

/**
 * A runner that runs one function on all ranks of a group in a barrier stage of Spark. Each partition is one rank.
 *
 * <pre>{@code
 * FerroSpark spark = FerroSpark.on(sc).timeout(Duration.ofSeconds(60)).attempts(4);
 * float[] model = spark.run(rows, (rank, mine) -> {
 *     float[] gradient = ...;
 *     rank.group().allReduce(gradient, ReduceOp.SUM);
 *     return weights;
 * });
 * }</pre>
 *
 * <p>All ranks run at once, so the executors need as many free slots as there are ranks. Ranks on one host communicate
 * through shared memory. The driver serves the store through which the ranks find each other. Apart from messages of
 * the store, only results, progress reports and failure reports pass through the driver.
 *
 * <p>If the driver has an address other than loopback, {@code spark.authenticate} must be on. The ranks derive the
 * secret of the job from Spark's secret.
 *
 * <p>A runner is immutable: each method that sets something returns a new runner. Any thread may call any method. Jobs
 * of several threads run at the same time if there are enough slots.
 */
public final class FerroSpark {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /** The time after which Spark's own slot check of a barrier stage fails: 40 checks, one every 15 s. */
    private static final Duration SLOT_TIMEOUT = Duration.ofMinutes(10);

    private final JobAttempts attempts;
    private final SparkJobOptions plan;

    private FerroSpark(JobAttempts attempts, SparkJobOptions plan) {
        this.attempts = attempts;
        this.plan = plan;
    }

    /**
     * Returns a runner for an application.
     *
     * @param context the context of the application
     * @return a runner with one attempt and a deadline of 60 s
     * @throws UnsupportedOperationException if Spark is older than 3.5
     * @throws IllegalArgumentException      if dynamic allocation is on
     * @throws IllegalStateException         if the application has been stopped; Spark throws this exception
     */
    public static FerroSpark on(SparkContext context) {
        SparkJobOptions plan = SparkJobOptions.standard(TIMEOUT, SLOT_TIMEOUT, FerroSpark::log);
        return new FerroSpark(new JobAttempts(Objects.requireNonNull(context, "context")), plan);
    }

    /**
     * Returns a runner for an application.
     *
     * @param context the context of the application
     * @return the same runner as {@link #on(SparkContext)} returns
     */
    public static FerroSpark on(JavaSparkContext context) {
        return on(context.sc());
    }

    /**
     * Returns a runner for an application.
     *
     * @param session the session of the application; a Spark Connect session does not work, because it has no RDDs
     * @return the same runner as {@link #on(SparkContext)} returns
     */
    public static FerroSpark on(SparkSession session) {
        return on(session.sparkContext());
    }

    private static void log(ProgressReport report) {
        LOG.log(Level.INFO, report.line());
    }

    /**
     * Sets the number of ranks. A shuffle repartitions the rows if the number of partitions is different.
     *
     * @param count the number of ranks; by default it is the number of partitions
     * @return a runner with this number of ranks
     * @throws IllegalArgumentException if {@code count} is less than 1
     */
    public FerroSpark ranks(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("the number of ranks must be at least 1, found " + count);
        }
        return with(plan.withRanks(count));
    }

    /**
     * Sets the deadline of each call of the group. The same deadline applies to joining the group.
     *
     * @param deadline the deadline; the default is 60 s
     * @return a runner with this deadline
     * @throws IllegalArgumentException if {@code deadline} is less than 1 ms
     */
    public FerroSpark timeout(Duration deadline) {
        return with(plan.withTimeout(checkedDeadline(deadline)));
    }

    /**
     * Sets how long each attempt waits until executors with enough slots have registered. An example is the wait for an
     * executor that replaces a lost executor. The driver logs a line after 1 s of waiting and then every 15 s. An
     * application with a local master does not wait: its job fails at once, because it never gets more slots.
     *
     * @param deadline the longest wait of an attempt; the default is 10 minutes
     * @return a runner with this deadline
     * @throws IllegalArgumentException if {@code deadline} is less than 1 ms
     */
    public FerroSpark slotTimeout(Duration deadline) {
        return with(plan.withSlotTimeout(checkedDeadline(deadline)));
    }

    private static Duration checkedDeadline(Duration deadline) {
        if (deadline.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("a timeout must be at least 1 ms, found " + deadline);
        }
        return deadline;
    }

    /**
     * Sets the maximum number of attempts of a job. The driver starts another attempt if an executor was lost or ferro
     * failed. The driver starts no other attempt if a rank's function threw an exception, unless {@link #retryOn} names
     * the type of the exception.
     *
     * @param max the maximum number of attempts, including the first one; the default is 1
     * @return a runner with this maximum
     * @throws IllegalArgumentException if {@code max} is less than 1
     */
    public FerroSpark attempts(int max) {
        if (max < 1) {
            throw new IllegalArgumentException("the number of attempts must be at least 1, found " + max);
        }
        return with(plan.withAttempts(max));
    }

    /**
     * Adds an exception type. If a rank's function throws an exception of this type, the driver starts another attempt.
     *
     * @param type the class of the exception, of one of its causes, or a superclass of either
     * @return a runner that also retries after this exception
     */
    public FerroSpark retryOn(Class<? extends Throwable> type) {
        return with(plan.withRetried(type.getName()));
    }

    /**
     * Sets the folder where {@link SparkRank#checkpoint} saves the state of ranks.
     *
     * @param folder URI of a folder; all executors must reach its Hadoop file system, which must rename files
     *     atomically
     * @return a runner with this folder
     */
    public FerroSpark checkpoint(String folder) {
        return with(plan.withCheckpoints(Objects.requireNonNull(folder, "folder")));
    }

    /**
     * Sets the ports on which the driver's store and the ranks listen. A gateway or a network policy can then open
     * these ports.
     *
     * @param range a range such as {@code 29500-29599}; each rank of a host and each job of the driver needs one port
     * @return a runner with these ports
     * @throws IllegalArgumentException if {@code range} is not a range of ports
     */
    public FerroSpark ports(String range) {
        return with(plan.withPorts(PortRange.of(range)));
    }

    /**
     * Makes rank 0 serve the store through which the ranks find each other. By default the driver serves the store. Use
     * this method if the executors can reach only Spark's own ports of the driver.
     *
     * <p>The ranks exchange the address of the store through Spark's barrier, which takes one second more. The driver
     * then learns of failures from Spark only, without flight recordings. The executors log the progress reports.
     *
     * @return a runner with the store at rank 0
     */
    public FerroSpark storeOnRankZero() {
        return with(plan.withStoreOnRankZero());
    }

    /**
     * Sets the value of a ferro setting on all ranks.
     *
     * @param name  the name of the setting, such as {@code ferro.links}
     * @param value the value, in the same form as on a command line
     * @return a runner with this setting
     * @throws IllegalArgumentException if no setting has this name, or if the value is not valid
     */
    public FerroSpark setting(String name, String value) {
        ferro.group.JoinOptions.ofProcess().setting(name, value);
        return with(plan.withSetting(name, value));
    }

    /**
     * Sets the listener that receives the progress reports of the ranks. By default the driver logs each report as one
     * line.
     *
     * @param listener the listener; it is called on a thread of ferro and must not block that thread
     * @return a runner with this listener
     */
    public FerroSpark onProgress(Consumer<ProgressReport> listener) {
        return with(plan.withProgress(Objects.requireNonNull(listener, "listener")));
    }

    private FerroSpark with(SparkJobOptions changed) {
        return new FerroSpark(attempts, changed);
    }

    /**
     * Runs a function on all ranks and returns the result of rank 0.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs
     * @return the result of rank 0
     * @throws FerroSparkException      if the job failed; the message names the rank and the task
     * @throws IllegalArgumentException if there are fewer slots than ranks, or if the driver's address needs a secret
     *     and {@code spark.authenticate} is off
     * @throws IllegalStateException    if the application has been stopped; Spark throws this exception
     */
    public <T, R> R run(JavaRDD<T> rows, RankFunction<T, R> function) {
        return attempts.run(rows.rdd(), plan, false, function, loader(function)).get(0);
    }

    /**
     * Runs a function on all ranks and returns the results of all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs
     * @return the results of the ranks; the index is the rank
     * @throws FerroSparkException      if the job failed; the message names the rank and the task
     * @throws IllegalArgumentException for the same reasons as {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(JavaRDD<T> rows, RankFunction<T, R> function) {
        return attempts.run(rows.rdd(), plan, true, function, loader(function));
    }

    /**
     * Runs a function on all ranks and returns the result of rank 0.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs
     * @return the result of rank 0, as for {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> R run(Dataset<T> rows, RankFunction<T, R> function) {
        return run(rows.javaRDD(), function);
    }

    /**
     * Runs a function on all ranks and returns the results of all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs
     * @return the results of the ranks, as for {@link #runAll(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(Dataset<T> rows, RankFunction<T, R> function) {
        return runAll(rows.javaRDD(), function);
    }

    /**
     * Runs a Scala function on all ranks and returns the result of rank 0.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs; the function must be serializable, and Spark's closure cleaner
     *     removes objects that the function does not use
     * @return the result of rank 0, as for {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> R run(RDD<T> rows, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        return attempts.run(rows, plan, false, ofScala(rows, function), loader(function))
                .get(0);
    }

    /**
     * Runs a Scala function on all ranks and returns the results of all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     the rows; each partition is read by one rank
     * @param function the function that each rank runs; the function must be serializable, and Spark's closure cleaner
     *     removes objects that the function does not use
     * @return the results of the ranks, as for {@link #runAll(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(RDD<T> rows, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        return attempts.run(rows, plan, true, ofScala(rows, function), loader(function));
    }

    private static <T, R> RankFunction<T, R> ofScala(
            RDD<T> of, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        Function2<SparkRank, scala.collection.Iterator<T>, R> cleaned = SparkApiAccess.cleaned(of.context(), function);
        return (SparkRank rank, Iterator<T> rows) -> cleaned.apply(rank, ScalaConverter.scalaRows(rows));
    }

    private static ClassLoader loader(Object function) {
        return function.getClass().getClassLoader();
    }
}
