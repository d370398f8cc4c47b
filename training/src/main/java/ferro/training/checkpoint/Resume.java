package ferro.training.checkpoint;

import ferro.spi.PlainLoggers;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The point from which a training continues, which is the newest undamaged checkpoint, or the begin of the training.
 * The same program therefore works at its first start, and each time that a launcher starts the program again.
 *
 * {@snippet file="ferro/examples/snippets/CheckpointSnippetsTest.java" region="resume" :
 *
 * try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
 *     long step = Resume.from(checkpoints, state).step(); // 0 at the first start
 *     while (step < last) {
 *         model.train();
 *         step++;
 *         checkpoints.saveAsync(step, state);
 *     }
 * }
 * }
 *
 * <p>The number of ranks may differ from the number of ranks that saved the checkpoint. Rank 0 logs in one line the
 * generation of the job and the step after which the training continues.
 */
public final class Resume {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");

    private final int generation;
    private final CheckpointInfo checkpoint;

    private Resume(int generation, CheckpointInfo checkpoint) {
        this.generation = generation;
        this.checkpoint = checkpoint;
    }

    /**
     * Loads the newest undamaged checkpoint. Without a checkpoint, the call loads nothing, and the training begins. All
     * ranks must make this call.
     *
     * <p>If files of the latest checkpoint are missing or damaged, rank 0 logs a warning, and the newest checkpoint
     * whose files are undamaged is loaded instead.
     *
     * @param checkpoints the checkpoints of the group
     * @param into the tensors that are filled, as by {@link Checkpoints#load(TrainingState)}
     * @return the point from which the training continues, equal on all ranks
     * @throws CheckpointException on all ranks, if the tensors do not match the checkpoint, if checkpoints exist but
     *     all of them are damaged, or if a save in the background has failed
     * @throws ferro.FerroException if a rank dies or does not make this call
     */
    public static Resume from(Checkpoints checkpoints, TrainingState into) {
        return from(checkpoints, into, metadata -> {});
    }

    /**
     * Loads the newest undamaged checkpoint in the same way as {@link #from(Checkpoints, TrainingState)}, and passes on
     * the metadata that was saved with the checkpoint.
     *
     * @param checkpoints the checkpoints of the group
     * @param into the tensors that are filled, as by {@link Checkpoints#load(TrainingState)}
     * @param restore receives the metadata after the tensors are filled, for example {@code optimizer::restore}; not
     *     called if the training begins
     * @return the point from which the training continues, equal on all ranks
     * @throws CheckpointException in the same cases as {@link #from(Checkpoints, TrainingState)}
     * @throws ferro.FerroException if a rank dies or does not make this call
     */
    public static Resume from(
            Checkpoints checkpoints, TrainingState into, Consumer<? super Map<String, String>> restore) {
        Objects.requireNonNull(checkpoints, "checkpoints");
        Objects.requireNonNull(into, "into");
        Objects.requireNonNull(restore, "restore");
        Optional<CheckpointInfo> loaded = checkpoints.loadNewestUndamaged(into);
        Resume resume = new Resume(checkpoints.generation(), loaded.orElse(null));
        loaded.ifPresent(info -> restore.accept(info.metadata()));
        if (checkpoints.isFirstRank()) {
            LOG.log(Level.INFO, resume.toString());
        }
        return resume;
    }

    /** {@return the step of the checkpoint after which the training continues; 0 if the training begins} */
    public long step() {
        return checkpoint == null ? 0 : checkpoint.step();
    }

    /** {@return the checkpoint: step, number of ranks that saved it, and metadata; empty if the training begins} */
    public Optional<CheckpointInfo> checkpoint() {
        return Optional.ofNullable(checkpoint);
    }

    /** {@return a description for people, the line that rank 0 logs} */
    @Override
    public String toString() {
        String what = checkpoint == null
                ? " begins: there is no checkpoint"
                : " continues after step " + checkpoint.step() + ", which "
                        + (checkpoint.worldSize() == 1 ? "1 rank" : checkpoint.worldSize() + " ranks") + " saved";
        return "generation " + generation + what;
    }
}
