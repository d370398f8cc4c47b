package ferro.spark.task;

import ferro.FerroException;
import ferro.group.SystemContext;
import ferro.spark.failure.RankFailure;
import ferro.spark.meeting.DriverLine;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;

/** How a rank ends that fails, or whose task Spark kills. */
final class RankCompletion {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    /** Longest wait of a rank that others have failed, so that Spark hears of their tasks first. */
    private static final long VICTIM_MILLIS = 2_000;

    private final TaskContext task;
    private final DriverLine line;
    private final CountDownLatch killed = new CountDownLatch(1);
    private byte[] recording = {};

    RankCompletion(TaskContext task, DriverLine line) {
        this.task = task;
        this.line = line;
    }

    /** Ends the rank on all ranks, because Spark has killed its task; on any thread. */
    void killed(SystemContext context, String reason) {
        killed.countDown();
        context.abort(new InterruptedException("Spark killed task " + task.taskAttemptId() + " of stage "
                + task.stageId() + "." + task.stageAttemptNumber() + ": " + reason));
    }

    /** Keeps what the rank did last, before its context is closed. */
    void recording(SystemContext context) {
        recording = context.flightRecord(RankFailure.MOST_RECORDING_BYTES).orElse(recording);
    }

    /** Reports a failure to the driver. Returns at once on the rank at fault. */
    void failed(Throwable failure) {
        line.failed(RankFailure.of(task.partitionId(), failure, recording));
        if (isVictim(failure)) {
            awaitKill();
        }
    }

    /** A failure of ferro that does not blame this rank is the fault of another one. */
    private boolean isVictim(Throwable failure) {
        Optional<FerroException> known = RankFailure.ofFerro(failure);
        return known.isPresent()
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
}
