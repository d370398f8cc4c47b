package ferro.spark;

import ferro.spark.driver.JobAttempts;
import ferro.spark.driver.JobPlan;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.internals.SparkInternals;
import ferro.spark.meeting.ProgressReport;
import ferro.spark.rank.RankFunction;
import ferro.spark.rank.SparkRank;
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
import scala.jdk.javaapi.CollectionConverters;

/**
 * Runs a function as the ranks of one group, one rank per partition, in a barrier stage of Spark.
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
 * <p>All ranks run at once, so the executors need as many free slots as there are ranks. Ranks on one host share memory. The
 * driver serves the store by which ranks meet; nothing else passes through it but results, progress and failures.
 *
 * <p>Off loopback {@code spark.authenticate} must be on: ranks derive the job's secret of Spark's. Immutable: each method returns
 * another object. Any thread may call it; jobs of several threads run at once if there are slots.
 */
public final class FerroSpark {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /** Spark's own check of a barrier stage gives up after as long: 40 times 15 s. */
    private static final Duration SLOT_TIMEOUT = Duration.ofMinutes(10);

    private final JobAttempts attempts;
    private final JobPlan plan;

    private FerroSpark(JobAttempts attempts, JobPlan plan) {
        this.attempts = attempts;
        this.plan = plan;
    }

    /**
     * Returns ferro on an application.
     *
     * @param context of the application
     * @return with one attempt, and a deadline of 60 s
     * @throws UnsupportedOperationException if Spark is older than 4.1
     * @throws IllegalArgumentException      if dynamic allocation is on
     * @throws IllegalStateException         of Spark, if the application has been stopped
     */
    public static FerroSpark on(SparkContext context) {
        JobPlan plan = JobPlan.standard(TIMEOUT, SLOT_TIMEOUT, FerroSpark::log);
        return new FerroSpark(new JobAttempts(Objects.requireNonNull(context, "context")), plan);
    }

    /**
     * Returns ferro on an application.
     *
     * @param context of the application
     * @return as {@link #on(SparkContext)}
     */
    public static FerroSpark on(JavaSparkContext context) {
        return on(context.sc());
    }

    /**
     * Returns ferro on an application.
     *
     * @param session of the application; not one of Spark Connect, which has no RDDs
     * @return as {@link #on(SparkContext)}
     */
    public static FerroSpark on(SparkSession session) {
        return on(session.sparkContext());
    }

    private static void log(ProgressReport report) {
        LOG.log(Level.INFO, report.line());
    }

    /**
     * Sets the number of ranks. Rows are repartitioned by a shuffle if there are more or fewer partitions.
     *
     * @param count as many as partitions if it is not called
     * @return with this number
     * @throws IllegalArgumentException if it is less than 1
     */
    public FerroSpark ranks(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a group has at least 1 rank, found " + count);
        }
        return with(plan.withRanks(count));
    }

    /**
     * Sets the deadline of each call of a group, and of joining.
     *
     * @param deadline 60 s if it is not called
     * @return with this deadline
     * @throws IllegalArgumentException if it is less than a millisecond
     */
    public FerroSpark timeout(Duration deadline) {
        return with(plan.withTimeout(checkedDeadline(deadline)));
    }

    /**
     * Sets how long each attempt waits until executors with enough slots have registered, such as one that replaces a lost one.
     * The log has a line after 1 s of waiting and then every 15 s. An application with a local master is refused at once, since it
     * gets no more slots.
     *
     * @param deadline 10 minutes if it is not called
     * @return with this deadline
     * @throws IllegalArgumentException if it is less than a millisecond
     */
    public FerroSpark slotTimeout(Duration deadline) {
        return with(plan.withSlotTimeout(checkedDeadline(deadline)));
    }

    private static Duration checkedDeadline(Duration deadline) {
        if (deadline.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("a deadline must be at least 1 ms, found " + deadline);
        }
        return deadline;
    }

    /**
     * Sets how often a job is tried. It is tried again when an executor was lost or ferro failed; not when a rank's function threw,
     * unless {@link #retryOn} names that exception.
     *
     * @param most attempts, the first included; 1 if it is not called
     * @return with this number
     * @throws IllegalArgumentException if it is less than 1
     */
    public FerroSpark attempts(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("a job has at least 1 attempt, found " + most);
        }
        return with(plan.withAttempts(most));
    }

    /**
     * Names an exception of a rank's function that is worth another attempt.
     *
     * @param type of the exception, of a superclass or of a cause
     * @return with this one more
     */
    public FerroSpark retryOn(Class<? extends Throwable> type) {
        return with(plan.withRetried(type.getName()));
    }

    /**
     * Names the folder where {@link SparkRank#checkpoint} keeps the state of ranks.
     *
     * @param folder URI of a file system of Hadoop that all executors reach, and that renames atomically
     * @return with this folder
     */
    public FerroSpark checkpoint(String folder) {
        return with(plan.withCheckpoints(Objects.requireNonNull(folder, "folder")));
    }

    /**
     * Names the ports that the driver's store and the ranks listen on, for gateways and network policies.
     *
     * @param range {@code 29500-29599}, one port per rank of a host and one for each job of the driver
     * @return with these ports
     * @throws IllegalArgumentException if it is no range
     */
    public FerroSpark ports(String range) {
        return with(plan.withPorts(PortRange.of(range)));
    }

    /**
     * Has rank 0 serve the store by which ranks meet, for clusters whose executors reach the driver by Spark's own ports
     * alone. The ranks learn its address by Spark's barrier, which costs a second more. Failures then come to the driver by
     * Spark only: without recordings; and progress is logged by the executors.
     *
     * @return with rank 0 as the meeting place; the driver is if it is not called
     */
    public FerroSpark meetAtRankZero() {
        return with(plan.withMeetingAtRankZero());
    }

    /**
     * Sets a setting of ferro on all ranks.
     *
     * @param name  {@code ferro.links}
     * @param value as on a command line
     * @return with this setting
     * @throws IllegalArgumentException if there is no such setting, or its value makes no sense
     */
    public FerroSpark setting(String name, String value) {
        ferro.group.JoinOptions.ofProcess().setting(name, value);
        return with(plan.withSetting(name, value));
    }

    /**
     * Sets what receives the progress that ranks report; a line of the driver's log if it is not called.
     *
     * @param listener called on a thread of ferro, which it must not block
     * @return with this listener
     */
    public FerroSpark onProgress(Consumer<ProgressReport> listener) {
        return with(plan.withProgress(Objects.requireNonNull(listener, "listener")));
    }

    private FerroSpark with(JobPlan changed) {
        return new FerroSpark(attempts, changed);
    }

    /**
     * Runs a function on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does
     * @return what rank 0 returned
     * @throws FerroSparkException      if the job failed; the text names the rank and the task
     * @throws IllegalArgumentException if there are fewer slots than ranks, or no secret for the driver's address
     * @throws IllegalStateException    of Spark, if the application has been stopped
     */
    public <T, R> R run(JavaRDD<T> rows, RankFunction<T, R> function) {
        return attempts.run(rows.rdd(), plan, false, function, loader(function)).get(0);
    }

    /**
     * Runs a function on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does
     * @return what each rank returned, by rank
     * @throws FerroSparkException      if the job failed; the text names the rank and the task
     * @throws IllegalArgumentException as {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(JavaRDD<T> rows, RankFunction<T, R> function) {
        return attempts.run(rows.rdd(), plan, true, function, loader(function));
    }

    /**
     * Runs a function on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does
     * @return as {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> R run(Dataset<T> rows, RankFunction<T, R> function) {
        return run(rows.javaRDD(), function);
    }

    /**
     * Runs a function on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does
     * @return as {@link #runAll(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(Dataset<T> rows, RankFunction<T, R> function) {
        return runAll(rows.javaRDD(), function);
    }

    /**
     * Runs a function of Scala on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does, serializable as Scala's functions are; Spark cleans it as those of its own calls
     * @return as {@link #run(JavaRDD, RankFunction)}
     */
    public <T, R> R run(RDD<T> rows, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        return attempts.run(rows, plan, false, ofScala(rows, function), loader(function))
                .get(0);
    }

    /**
     * Runs a function of Scala on all ranks.
     *
     * @param <T>      type of the rows
     * @param <R>      type of the result
     * @param rows     a partition per rank
     * @param function what each rank does, serializable as Scala's functions are; Spark cleans it as those of its own calls
     * @return as {@link #runAll(JavaRDD, RankFunction)}
     */
    public <T, R> List<R> runAll(RDD<T> rows, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        return attempts.run(rows, plan, true, ofScala(rows, function), loader(function));
    }

    private static <T, R> RankFunction<T, R> ofScala(
            RDD<T> of, Function2<SparkRank, scala.collection.Iterator<T>, R> function) {
        Function2<SparkRank, scala.collection.Iterator<T>, R> cleaned = SparkInternals.cleaned(of.context(), function);
        return (SparkRank rank, Iterator<T> rows) -> cleaned.apply(rank, CollectionConverters.asScala(rows));
    }

    private static ClassLoader loader(Object function) {
        return function.getClass().getClassLoader();
    }
}
