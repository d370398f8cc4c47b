package ferro.examples.textmodel;

import ferro.examples.textmodel.Trainer.TrainingStep;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.CheckpointSettings;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.Resume;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A training that saves checkpoints, and that continues after the latest one each time that the job is started. */
final class SavedTraining implements AutoCloseable {
    private static final int SAVE_EVERY_STEPS = 25;
    private static final int KEEP = 2;
    private static final String MILLIS = "demo.millis";

    private final Trainer trainer;
    private final Checkpoints checkpoints;
    private final Resume resume;
    private final LossHistory history;
    private final boolean isFirstRank;
    /** The second save waits for the first one. So the generation has a checkpoint after two saves have begun. */
    private final CountDownLatch saved = new CountDownLatch(2);

    /** Opens the folder, and loads the newest checkpoint into the trainer. All ranks call it. */
    SavedTraining(ProcessGroup group, Path folder, Trainer trainer) {
        this.trainer = trainer;
        isFirstRank = group.rank() == 0;
        checkpoints = Checkpoints.open(group, LocalStorage.at(folder), CheckpointSettings.DEFAULT.withKeepLast(KEEP));
        resume = trainer.resume(checkpoints);
        history = new LossHistory(folder, group.generation());
        if (isFirstRank && group.generation() == 0) {
            history.clear();
        }
    }

    /** Returns a latch that is zero when this generation has published a checkpoint. */
    CountDownLatch saved() {
        return saved;
    }

    Resume resume() {
        return resume;
    }

    /** Returns how long earlier starts of the job have trained up to the checkpoint. */
    long earlierMillis() {
        return resume.checkpoint()
                .map(info -> Long.parseLong(info.metadata().get(MILLIS)))
                .orElse(0L);
    }

    /** Records a step, and saves a checkpoint after some steps. All ranks call it after each step. */
    void after(TrainingStep step) {
        if (isFirstRank) {
            history.add(step, System.currentTimeMillis());
        }
        checkpoints.check();
        if ((step.number() + 1) % SAVE_EVERY_STEPS == 0) {
            trainer.save(checkpoints, Map.of(MILLIS, "" + (earlierMillis() + step.endNanos() / 1_000_000)));
            saved.countDown();
        }
    }

    /** Returns the plot of all generations; empty if there was only one. For rank 0. */
    List<String> plot() {
        List<LossHistory.LossPoint> points = history.points();
        boolean isRestarted = !points.isEmpty()
                && points.get(0).generation() < points.get(points.size() - 1).generation();
        return isRestarted ? LossHistory.plot(points) : List.of();
    }

    @Override
    public void close() {
        checkpoints.close();
    }
}
