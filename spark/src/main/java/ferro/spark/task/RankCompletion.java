package ferro.spark.task;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.SystemContext;
import ferro.spark.failure.RankFailure;
import ferro.spark.meeting.DriverLine;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;

/** How a rank ends that fails, or whose task Spark kills. It looks for a kill until it is closed. */
final class RankCompletion implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    /** Longest wait of a rank that others have failed, so that Spark hears of their tasks first. */
    private static final long VICTIM_MILLIS = 2_000;

    private final TaskContext task;
    private final DriverLine line;
    private final CountDownLatch killed = new CountDownLatch(1);
    private SystemContext context;
    private InterruptedException kill;
    private KillWatch watch;
    private byte[] recording = {};

    private RankCompletion(TaskContext task, DriverLine line) {
        this.task = task;
        this.line = line;
    }

    /** Looks for a kill of a task from now on. */
    static RankCompletion of(TaskContext task, DriverLine line) {
        RankCompletion end = new RankCompletion(task, line);
        end.watch = KillWatch.over(task, end::killed);
        return end;
    }

    /** Has a kill end a context, also one that came before. */
    void over(SystemContext joining) {
        InterruptedException before;
        synchronized (this) {
            context = joining;
            before = kill;
        }
        if (before != null) {
            joining.abort(before);
        }
    }

    /** Ends the rank on all ranks, because Spark has killed its task; on any thread. */
    private void killed(String reason) {
        InterruptedException why = new InterruptedException("Spark killed task " + task.taskAttemptId() + " of stage "
                + task.stageId() + "." + task.stageAttemptNumber() + ": " + reason);
        SystemContext known;
        synchronized (this) {
            kill = why;
            known = context;
        }
        killed.countDown();
        if (known != null) {
            known.abort(why);
        }
    }

    /** Keeps what the rank did last, before its context is closed. */
    void recording(SystemContext failed) {
        recording = failed.flightRecord(RankFailure.MOST_RECORDING_BYTES).orElse(recording);
    }

    /** Reports a failure to the driver. Returns at once on the rank at fault. */
    void failed(Throwable failure) {
        line.failed(
                isByKill(failure)
                        ? RankFailure.ofKill(task.partitionId(), failure, recording)
                        : RankFailure.of(task.partitionId(), failure, recording));
        if (isVictim(failure)) {
            awaitKill();
        }
    }

    /** What a function throws after Spark has killed its task is the work of the kill, whatever its type is. */
    private synchronized boolean isByKill(Throwable failure) {
        return (kill != null || task.isInterrupted())
                && RankFailure.ofFerro(failure).isEmpty();
    }

    /**
     * A failure of ferro that does not blame this rank is the fault of another one. One that is only late does not tell
     * Spark, so nobody waits for it.
     */
    private boolean isVictim(Throwable failure) {
        Optional<FerroException> known = RankFailure.ofFerro(failure);
        return known.isPresent()
                && known.get().code() != Code.TIMED_OUT
                && !("," + known.get().where().culprits() + ",").contains("," + task.partitionId() + ",");
    }

    /** Spark kills the other tasks of the stage once it has heard of the task at fault. */
    private void awaitKill() {
        try {
            if (!killed.await(VICTIM_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.log(
                        Level.DEBUG,
                        "rank " + task.partitionId() + " ends first: Spark has not heard of the rank at fault");
            }
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        watch.close();
    }
}
