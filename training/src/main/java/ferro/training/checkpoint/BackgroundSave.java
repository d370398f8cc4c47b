package ferro.training.checkpoint;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A save that runs in a background thread. */
final class BackgroundSave {
    private static final long POLL_MILLIS = 100;
    /** Maximum time in seconds that a caller waits for the save after it has found that the group has failed. */
    private static final int BOUND_SECONDS = 5;

    private final String what;
    private final long step;
    private final ProcessGroup group;
    private final MessageExchange ranks;
    private final FutureTask<CheckpointInfo> task;

    private BackgroundSave(SaveRun run, MessageExchange ranks, ProcessGroup group) {
        what = run.what();
        step = run.step();
        this.group = group;
        this.ranks = ranks;
        task = new FutureTask<>(() -> ranks.together(run::run));
    }

    /**
     * Starts a save. {@code group} is the group of the training; if the group fails, {@link #await} waits only 5 s
     * more.
     */
    static BackgroundSave start(SaveRun run, MessageExchange ranks, ProcessGroup group) {
        BackgroundSave save = new BackgroundSave(run, ranks, group);
        Thread thread = new Thread(save.task, "ferro-checkpoint-" + ranks.rank());
        thread.setDaemon(true);
        thread.start();
        return save;
    }

    long step() {
        return step;
    }

    boolean isOver() {
        return task.isDone();
    }

    /**
     * Waits for the end of the save. Throws an exception if the save has failed. Also throws an exception if the save
     * has not ended 5 s after a failure of the group, or 5 s after the deadline of the save has passed without
     * progress.
     */
    void await() {
        try {
            awaitBounded();
            task.get();
        } catch (ExecutionException failed) {
            // each call throws a new exception, because an exception cannot be added to itself as suppressed
            throw new CheckpointException(
                    what + " in the background failed: " + failed.getCause().getMessage(), failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CheckpointException("interrupted while " + what + " in the background", interrupted);
        }
    }

    private void awaitBounded() throws InterruptedException {
        FerroException failure = null;
        long noticed = System.nanoTime();
        while (!isOverWithin(POLL_MILLIS)) {
            if (failure == null) {
                failure = group.failure().or(ranks::failure).orElse(null);
                noticed = System.nanoTime();
            } else if (System.nanoTime() - noticed >= TimeUnit.SECONDS.toNanos(BOUND_SECONDS)) {
                ranks.abort(failure);
                throw new CheckpointException(
                        what + " in the background has not ended within " + BOUND_SECONDS
                                + " s after the failure of the group: " + failure.getMessage(),
                        failure);
            }
        }
    }

    private boolean isOverWithin(long millis) throws InterruptedException {
        try {
            task.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException running) {
            return false;
        } catch (ExecutionException failed) {
            return true;
        }
    }
}
