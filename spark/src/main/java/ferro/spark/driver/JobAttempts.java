package ferro.spark.driver;

import ferro.spark.driver.BarrierAttempt.AttemptOutcome;
import ferro.spark.rank.RankFunction;
import ferro.spark.rendezvous.DriverStore.JobAttempt;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.util.LongAccumulator;

/** The attempts of a ferro job. Each attempt is a Spark job with its own store, its own name and its own generation. */
public final class JobAttempts {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final int MAX_NAME = 48;

    private final SparkContext spark;
    private final SecureRandom random = new SecureRandom();

    /** Creates an object that runs the jobs of an application. */
    public JobAttempts(SparkContext spark) {
        SparkChecks.check(spark);
        this.spark = spark;
    }

    /**
     * Runs a job until an attempt succeeds or no further attempt is possible.
     *
     * @param resultAtAll whether to return the results of all ranks, not only of rank 0
     * @param ofUser      the class loader of the user's function
     * @return the results by rank; null for a rank whose result was not requested
     */
    public <T, R> List<R> run(
            RDD<T> rows, SparkJobOptions plan, boolean resultAtAll, RankFunction<T, R> function, ClassLoader ofUser) {
        int ranks = plan.ranks == 0 ? rows.getNumPartitions() : plan.ranks;
        if (ranks == 0) {
            throw new IllegalArgumentException("the RDD must have at least 1 partition, found " + ranks
                    + ": set the number of ranks with .ranks(n)");
        }
        ExecutorSlotWait.await(spark, rows, ranks, plan.slotTimeout);
        RDD<T> assigned = assigned(rows, ranks);
        String job = name();
        LongAccumulator steps = spark.longAccumulator("ferro: steps of rank 0 of " + job);
        BarrierAttempt<T, R> jobs = new BarrierAttempt<>(assigned, plan, resultAtAll, steps, ofUser);
        return tried("job " + job + " of " + ranks + " ranks", plan, attempt -> {
            if (attempt > 0) {
                ExecutorSlotWait.await(spark, assigned, ranks, plan.slotTimeout);
            }
            return jobs.run(new JobAttempt(job, attempt, ranks), function);
        });
    }

    /** Runs attempts until one succeeds. Throws an exception if another attempt would not help or is not possible. */
    static <R> List<R> tried(String name, SparkJobOptions plan, IntFunction<AttemptOutcome<R>> attempts) {
        FailedAttempt before = null;
        String what = "";
        for (int attempt = 0; true; attempt++) {
            AttemptOutcome<R> ending;
            try {
                ending = attempts.apply(attempt);
            } catch (RuntimeException refusal) {
                throw before == null ? refusal : noFurther(before, what, refusal);
            }
            if (ending.failure() == null) {
                return ending.results();
            }
            what = name + ", attempt " + (attempt + 1) + " of " + plan.attempts;
            boolean last = attempt + 1 >= plan.attempts || !ending.failure().worthAnother(plan.retried);
            if (last) {
                throw ending.failure().exception(what);
            }
            if (!ending.unended().isEmpty()) {
                throw ending.failure().exception(what, stuck(ending.unended()));
            }
            LOG.log(
                    Level.WARNING,
                    ending.failure().exception(what).getMessage() + "; the driver starts another attempt");
            before = ending.failure();
        }
    }

    private static String stuck(List<String> unended) {
        return "; no further attempt: " + String.join("; ", unended) + (unended.size() == 1 ? " does" : " do")
                + " not end; set spark.task.reaper.enabled=true";
    }

    /** Returns the exception of the previous attempt, extended by the reason why there is no further attempt. */
    private static RuntimeException noFurther(FailedAttempt before, String what, RuntimeException refusal) {
        RuntimeException failure = before.exception(what, "; no further attempt: " + refusal.getMessage());
        failure.addSuppressed(refusal);
        return failure;
    }

    /** Returns a new job name. The name consists of the application's id, which logs then show, and a random number. */
    private String name() {
        String id = spark.applicationId();
        return (id.length() > MAX_NAME ? id.substring(id.length() - MAX_NAME) : id) + "-"
                + HexFormat.of().toHexDigits(random.nextInt());
    }

    private <T> RDD<T> assigned(RDD<T> rows, int ranks) {
        Optional<String> refusal = BarrierStageCheck.refusal(rows, ranks);
        if (refusal.isEmpty()) {
            return rows;
        }
        LOG.log(
                Level.WARNING,
                "a shuffle repartitions RDD " + rows.id() + " for " + ranks + " ranks: " + refusal.get());
        JavaRDD<T> shuffled = rows.toJavaRDD().repartition(ranks);
        // the shuffle starts a new stage, which does not inherit the resource profile of the rows
        ResourceProfile profile = ExecutorSlotWait.profile(spark, rows);
        return (ExecutorSlotWait.isDefault(profile) ? shuffled : shuffled.withResources(profile)).rdd();
    }
}
