package ferro.spark.task;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.SystemContext;
import ferro.spark.failure.RankFailure;
import ferro.spark.rendezvous.DriverStoreClient;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;

/** The end of a rank that fails, or whose task Spark kills. Watches for a kill of the task until it is closed. */
final class RankFailureHandler implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    /**
     * The longest time that a rank delays its end if another rank is at fault, so that Spark first learns of the failed
     * task of the other rank.
     */
    private static final long VICTIM_MILLIS = 2_000;

    private static final byte[] NONE = {};

    private final TaskContext task;
    private final DriverStoreClient line;
    private final CountDownLatch killed = new CountDownLatch(1);
    private SystemContext context;
    private InterruptedException kill;
    private KillWatcher watch;
    private boolean reported;
    private boolean victim;

    private RankFailureHandler(TaskContext task, DriverStoreClient line) {
        this.task = task;
        this.line = line;
    }

    /** Creates a completion that starts to watch for a kill of a task. */
    static RankFailureHandler of(TaskContext task, DriverStoreClient line) {
        RankFailureHandler end = new RankFailureHandler(task, line);
        end.watch = KillWatcher.over(task, end::killed);
        return end;
    }

    /** Aborts a context as soon as Spark kills the task; at once if Spark has already killed it. */
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

    /** Aborts the rank's group on all ranks, because Spark has killed the rank's task. Any thread may call this. */
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
     * Reports a failure of a rank that has a context, then aborts the context on all ranks. The driver therefore
     * receives the report of the rank at fault before the other ranks fail.
     *
     * @param joined  the context
     * @param ofGroup the earlier failure of the group; empty if the group had not failed, or if the rank has not joined
     * @param failure the exception that the join or the rank's function threw
     */
    void failed(SystemContext joined, Optional<FerroException> ofGroup, Throwable failure) {
        byte[] recording = recorded(failure, () -> joined.flightRecord(RankFailure.MAX_RECORDING_BYTES));
        report(failure, ofGroup, recording);
        joined.abort(failure);
    }

    /**
     * Returns the flight recording of a rank. If the recorder throws, adds its exception to the rank's failure as a
     * suppressed exception and returns an empty recording.
     */
    static byte[] recorded(Throwable failure, Supplier<Optional<byte[]>> recorder) {
        try {
            return recorder.get().orElse(NONE);
        } catch (RuntimeException unrecorded) {
            failure.addSuppressed(unrecorded);
            return NONE;
        }
    }

    /**
     * Ends a rank that has failed. Reports the failure if it has not been reported yet. Returns at once if this rank is
     * at fault; otherwise waits until Spark kills the task, for at most 2 s.
     */
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
            // the kill causes every exception that a function throws after the kill, whatever the type of the exception
            // is
            line.failed(RankFailure.ofKill(rank, failure, recording));
        } else {
            line.failed(RankFailure.ofGroup(rank, before.get(), failure, recording));
        }
        reported = true;
        // the task of a late rank still runs, so Spark learns of no failure from that task: do not wait for Spark's
        // kill
        victim = known.or(() -> before)
                .map(one -> one.code() != Code.TIMED_OUT && !blames(one, rank))
                .orElse(false);
    }

    private synchronized boolean isKilled() {
        return kill != null || task.isInterrupted();
    }

    private static boolean blames(FerroException failure, int rank) {
        return failure.where().culprits().contains(rank);
    }

    /** Waits until Spark kills this task. Spark kills all tasks of the stage after it learned of the task at fault. */
    private void awaitKill() {
        try {
            if (!killed.await(VICTIM_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.log(
                        Level.DEBUG,
                        "rank " + task.partitionId() + " ends although Spark has not reported the rank at fault yet");
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
