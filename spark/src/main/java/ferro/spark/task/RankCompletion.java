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
import java.util.function.Supplier;
import org.apache.spark.TaskContext;

/** How a rank ends that fails, or whose task Spark kills. It looks for a kill until it is closed. */
final class RankCompletion implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    /** Longest wait of a rank that others have failed, so that Spark hears of their tasks first. */
    private static final long VICTIM_MILLIS = 2_000;

    private static final byte[] NONE = {};

    private final TaskContext task;
    private final DriverLine line;
    private final CountDownLatch killed = new CountDownLatch(1);
    private SystemContext context;
    private InterruptedException kill;
    private KillWatch watch;
    private boolean reported;
    private boolean victim;

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

    /**
     * Reports a failure inside a context, then ends the context on all ranks: the driver hears of the rank at fault before
     * the other ranks do.
     *
     * @param joined  the context
     * @param ofGroup why its group had failed before; empty if it had not, or the rank has not joined
     * @param failure what the join or the rank's function threw
     */
    void failed(SystemContext joined, Optional<FerroException> ofGroup, Throwable failure) {
        byte[] recording = recorded(failure, () -> joined.flightRecord(RankFailure.MOST_RECORDING_BYTES));
        report(failure, ofGroup, recording);
        joined.abort(failure);
    }

    /** Returns what the rank did last. The failure that is recorded counts more than that of a recording. */
    static byte[] recorded(Throwable failure, Supplier<Optional<byte[]>> recorder) {
        try {
            return recorder.get().orElse(NONE);
        } catch (RuntimeException unrecorded) {
            failure.addSuppressed(unrecorded);
            return NONE;
        }
    }

    /** Ends a rank that has failed, which is reported unless it has been. Returns at once on the rank at fault. */
    void failed(Throwable failure) {
        if (!reported) {
            report(failure, Optional.empty(), NONE);
        }
        if (victim) {
            awaitKill();
        }
    }

    private void report(Throwable failure, Optional<FerroException> ofGroup, byte[] recording) {
        int rank = task.partitionId();
        Optional<FerroException> known = RankFailure.ofFerro(failure);
        Optional<FerroException> before = ofGroup.filter(one -> !blames(one, rank));
        if (known.isPresent() || !isKilled() && before.isEmpty()) {
            line.failed(RankFailure.of(rank, failure, recording));
        } else if (isKilled()) {
            // what a function throws after the kill of its task is the work of the kill, whatever its type is
            line.failed(RankFailure.ofKill(rank, failure, recording));
        } else {
            line.failed(RankFailure.ofGroup(rank, before.get(), failure, recording));
        }
        reported = true;
        // a rank that is only late does not tell Spark, so nobody waits for it
        victim = known.or(() -> before)
                .map(one -> one.code() != Code.TIMED_OUT && !blames(one, rank))
                .orElse(false);
    }

    private synchronized boolean isKilled() {
        return kill != null || task.isInterrupted();
    }

    private static boolean blames(FerroException failure, int rank) {
        return ("," + failure.where().culprits() + ",").contains("," + rank + ",");
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
