package ferro.spark.driver;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.spark.driver.TaskTracker.LostExecutor;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.failure.RankFailure;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The information about a failed attempt.
 *
 * @param reports   the reports of the ranks, in the order of arrival
 * @param tasks     the tasks of the attempt
 * @param lost      the executors that have ended during the attempt
 * @param unreached true if the driver serves a store to which no rank has written
 * @param ofSpark   the exception that Spark threw
 */
record FailedAttempt(
        List<RankFailure> reports, TaskTracker tasks, List<LostExecutor> lost, boolean unreached, Exception ofSpark) {
    private static final String CANCELLED = "SPARK_JOB_CANCELLED";
    /** Spark 3.5 gives a cancelled job no error class. */
    private static final Pattern CANCELLED_IN_3_5 = Pattern.compile("Job [0-9]+ cancelled ");

    /** The failure codes that may not recur in another attempt. Any other means an error in the program or settings. */
    private static final Set<Code> PASSING = EnumSet.of(
            Code.TIMED_OUT,
            Code.PEER_LOST,
            Code.PARTITION,
            Code.ABORTED,
            Code.INTERRUPTED,
            Code.RENDEZVOUS,
            Code.RESOURCE);

    private static final int MAX_CHARS_OF_SPARK = 2_000;

    /** Returns whether another attempt may succeed. */
    boolean worthAnother(List<String> retried) {
        if (isCancelled() || ofSpark instanceof InterruptedException || isStopped()) {
            return false;
        }
        if (reports.stream().anyMatch(RankFailure::isOfFetch)) {
            // Spark ends a barrier stage whose fetch fails, and computes the missing files again in the next attempt
            return true;
        }
        Optional<RankFailure> own = own();
        if (own.isPresent()) {
            return lost.isEmpty() ? own.get().types().stream().anyMatch(retried::contains) : true;
        }
        return !lost.isEmpty()
                || ofFerro()
                        .map(report -> PASSING.contains(report.failure().code()))
                        .orElse(false);
    }

    /** Returns whether Spark's exception says that the Spark job was cancelled. */
    private boolean isCancelled() {
        String text = String.valueOf(ofSpark.getMessage());
        return text.contains(CANCELLED) || CANCELLED_IN_3_5.matcher(text).lookingAt() && !isStopped();
    }

    /** Returns whether Spark's exception says that the application has been stopped. */
    private boolean isStopped() {
        String text = String.valueOf(ofSpark.getMessage());
        return text.contains("SparkContext was shut down") || text.contains("stopped SparkContext");
    }

    /** Returns the first report of an exception that a rank's function threw itself. */
    private Optional<RankFailure> own() {
        return reports.stream().filter(report -> !report.ofFerro()).findFirst();
    }

    /** Returns the report with the gravest {@link Code} among the reports of ferro failures. */
    private Optional<RankFailure> ofFerro() {
        return reports.stream()
                .filter(RankFailure::ofFerro)
                .min(Comparator.comparingInt(report -> report.failure().code().gravity()));
    }

    /** Creates the exception that the driver throws for this attempt. */
    FerroSparkException exception(String what) {
        return exception(what, "");
    }

    /** Creates the exception that the driver throws for this attempt. {@code after} says why no other follows. */
    FerroSparkException exception(String what, String after) {
        Map<Integer, byte[]> recordings = new TreeMap<>();
        for (RankFailure report : reports) {
            if (report.recording().length > 0) {
                recordings.put(report.rank(), report.recording());
            }
        }
        RankDiagnosis diagnosed = diagnosed();
        return new FerroSparkException(what + diagnosed.text + after, diagnosed.rank, recordings, ofSpark);
    }

    private RankDiagnosis diagnosed() {
        if (isCancelled()) {
            return new RankDiagnosis(-1, " was cancelled: " + firstLine(ofSpark));
        }
        if (ofSpark instanceof InterruptedException) {
            return new RankDiagnosis(-1, " was ended because the thread that ran it was interrupted");
        }
        if (isStopped()) {
            return new RankDiagnosis(-1, " was ended because its SparkContext was stopped: " + firstLine(ofSpark));
        }
        if (!lost.isEmpty()) {
            return lostExecutors();
        }
        Optional<RankFailure> own = own();
        if (own.isPresent()) {
            int rank = own.get().rank();
            return new RankDiagnosis(
                    rank,
                    " failed on rank " + rank + ", " + tasks.task(rank) + ": "
                            + own.get().failure().text());
        }
        return ofFerro().map(this::blamed).orElseGet(() -> new RankDiagnosis(-1, " failed: " + firstLine(ofSpark)));
    }

    private RankDiagnosis lostExecutors() {
        String text = lost.stream()
                .map(one -> "executor " + one.id() + " on " + one.host() + " with rank"
                        + (one.ranks().size() == 1 ? " " : "s ")
                        + one.ranks().stream().map(String::valueOf).collect(Collectors.joining(", ")) + " was lost: "
                        + one.reason())
                .collect(Collectors.joining("; "));
        List<Integer> ranks = lost.stream().flatMap(one -> one.ranks().stream()).toList();
        String seen = ofFerro()
                .map(report -> "; rank " + report.rank() + ": "
                        + report.failure().code() + ": " + report.failure().text())
                .orElse("");
        return new RankDiagnosis(ranks.size() == 1 ? ranks.get(0) : -1, " failed: " + text + seen);
    }

    private RankDiagnosis blamed(RankFailure report) {
        Failure failure = report.failure();
        boolean one = failure.culprits().size() == 1;
        int rank = one ? failure.culprits().iterator().next() : -1;
        String at = one ? " on rank " + rank + ", " + tasks.task(rank) : "";
        String way = unreached && failure.code() == Code.RENDEZVOUS
                ? "; no rank has connected to the driver's store: open the port of the store (.ports sets a range), or"
                        + " let rank 0 serve the store (.storeOnRankZero())"
                : "";
        return new RankDiagnosis(rank, " failed" + at + ": " + failure.code() + ": " + failure.text() + way);
    }

    private static String firstLine(Throwable failure) {
        String text = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        return text.length() > MAX_CHARS_OF_SPARK ? text.substring(0, MAX_CHARS_OF_SPARK) : text;
    }

    /**
     * A diagnosis of the failure.
     *
     * @param rank the rank at fault; -1 if no such rank is known
     * @param text the description of the failure
     */
    private record RankDiagnosis(int rank, String text) {}
}
