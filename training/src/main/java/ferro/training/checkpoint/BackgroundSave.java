package ferro.training.checkpoint;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A save that runs in a background thread. */
final class BackgroundSave {
    private final String what;
    private final long step;
    private final FutureTask<CheckpointInfo> task;

    private BackgroundSave(SaveRun run, RankMessages ranks) {
        what = run.what();
        step = run.step();
        task = new FutureTask<>(() -> ranks.together(run::run));
    }

    static BackgroundSave start(SaveRun run, RankMessages ranks) {
        BackgroundSave save = new BackgroundSave(run, ranks);
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

    /** Waits for the end of the save. Throws an exception if the save has failed. */
    void await() {
        try {
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
}
