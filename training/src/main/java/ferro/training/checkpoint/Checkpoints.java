package ferro.training.checkpoint;

import ferro.group.ProcessGroup;
import ferro.job.Surroundings;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Saves and loads the checkpoints of a group. Every call but {@link #check} is made by all ranks, in the same order.
 *
 * <p>A save writes {@code step-N/} and then gives {@code latest.json} new content by one rename, so that a crash at any time leaves
 * the checkpoint before it, or the new one, whole. Parameters are safetensors files with an index, which other programs open; each
 * rank writes some whole parameters, all ranks about as many bytes. The state of an optimizer is cut as the ranks have it. Any
 * number of ranks loads what any other number has saved.
 *
 * {@snippet file="ferro/examples/snippets/CheckpointSnippetsTest.java" region="checkpoints" :
 *
 * NamedTensor weight = NamedTensor.of("dense.weight", model.weight(), 2, 3);
 * StateSlice average = new StateSlice("exp_avg", "dense.weight", model.from(), model.average());
 * TrainingState state = TrainingState.of(List.of(weight)).withSlices(List.of(average));
 * CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(3);
 * try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder), settings)) {
 *     long step =
 *             checkpoints.latest().isPresent() ? checkpoints.load(state).step() : 0;
 *     while (step < last) {
 *         model.train();
 *         step++;
 *         checkpoints.check(); // throws what made a save in the background fail
 *         if (step % 10 == 0) {
 *             checkpoints.saveAsync(step, state.withMetadata(Map.of("epoch", "1")));
 *         }
 *     }
 *     return step;
 * }
 * }
 *
 * <p>A save compares what several ranks hold, all parameters and state of the same elements: one of these ranks writes it. A tensor that
 * differs fails the save on all ranks. {@link CheckpointSettings#withCompareRanks} turns this off.
 *
 * <p>The first save takes the folder for these checkpoints ({@link StateFolder}). If another job, or other checkpoints of this one, have
 * saved there before, they cannot save there any more. Opening and loading take nothing, so that any job may load while another one
 * saves.
 *
 * <p>It has a group of its own, made of all ranks of the one that it is opened with, so that a save in the background meets no call
 * of that one. The calls of a rank are made by one thread.
 */
public final class Checkpoints implements AutoCloseable {
    private static final long NONE = -1;

    private final ProcessGroup group;
    private final RankMessages ranks;
    private final CheckpointStorage storage;
    private final StateFolder folder;
    private final CheckpointSettings settings;
    private BackgroundSave running;
    private boolean wasTold;
    /** The step that this has saved last, which need not be saved again; -1 if another state was loaded since. */
    private long lastSaved = NONE;

    private Checkpoints(ProcessGroup group, CheckpointStorage storage, CheckpointSettings settings, String host) {
        this.group = group;
        this.storage = storage;
        this.settings = settings;
        folder = new StateFolder(storage, host, null);
        ranks = new RankMessages(group.within(settings.deadline()), host);
    }

    /**
     * Opens a storage for all ranks of a group.
     *
     * @param group the group; it stays open, and this goes on when it is closed
     * @param storage where checkpoints lie, the same place for all ranks
     * @return checkpoints of the group, all of which stay
     * @throws IllegalStateException if the group is closed
     * @throws UnsupportedOperationException if the back end of the group makes no groups
     * @throws ferro.FerroException if a rank does not come, or the group has failed
     */
    public static Checkpoints open(ProcessGroup group, CheckpointStorage storage) {
        return open(group, storage, CheckpointSettings.DEFAULT);
    }

    /**
     * Opens a storage for all ranks of a group, with settings.
     *
     * @param group the group; it stays open, and this goes on when it is closed
     * @param storage where checkpoints lie, the same place for all ranks
     * @param settings how many checkpoints stay, and how long ranks wait; the same on all ranks
     * @return checkpoints of the group
     * @throws IllegalStateException if the group is closed
     * @throws UnsupportedOperationException if the back end of the group makes no groups
     * @throws ferro.FerroException if a rank does not come, or the group has failed
     */
    public static Checkpoints open(ProcessGroup group, CheckpointStorage storage, CheckpointSettings settings) {
        return open(group, storage, settings, Surroundings.ofThisHost().hostName());
    }

    /** Opens a storage for ranks of hosts of given names. */
    static Checkpoints open(ProcessGroup group, CheckpointStorage storage, CheckpointSettings settings, String host) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(storage, "storage");
        Objects.requireNonNull(settings, "settings");
        int[] all = IntStream.range(0, group.worldSize()).toArray();
        return new Checkpoints(group.newGroup(all), storage, settings, host);
    }

    /**
     * Saves a checkpoint, and returns when it is the latest one.
     *
     * @param step the step after which this is the state, from 0 on. If it is the one that this has saved last, nothing is done; if
     *     it is another's that is the latest, it is refused
     * @param state what to save
     * @throws CheckpointException on all ranks, if the save fails on one, or an earlier one in the background has failed; the latest
     *     checkpoint is then the one before. Also if another job saves in this storage now: the message names its host, its process
     *     and its job
     * @throws IllegalArgumentException if the step is negative
     * @throws ferro.FerroException if a rank dies or does not come
     */
    public void save(long step, TrainingState state) {
        if (beginSave(step, state)) {
            ranks.together(
                    () -> SaveRun.planned(ranks, folder, settings, step, state).run());
            lastSaved = step;
        }
    }

    /**
     * Copies what this rank has to write, and saves the copy in the background. A save that is still under way is awaited first.
     * When this returns, the tensors may be changed.
     *
     * <p>What goes wrong later is thrown by {@link #check}, by the next save or load, and by {@link #close}.
     *
     * @param step the step after which this is the state, from 0 on. If it is the one that this has saved last, nothing is done; if
     *     it is another's that is the latest, it is refused
     * @param state what to save
     * @throws CheckpointException on all ranks, if ranks ask for different things, the save before it has failed, or another job
     *     saves in this storage now
     * @throws IllegalArgumentException if the step is negative
     * @throws ferro.FerroException if a rank dies or does not come
     */
    public void saveAsync(long step, TrainingState state) {
        if (beginSave(step, state)) {
            running = ranks.together(() -> {
                SaveRun run = SaveRun.planned(ranks, folder, settings, step, state);
                run.copy();
                return BackgroundSave.start(run, ranks);
            });
        }
    }

    /** Waits for the save before; returns whether there is anything to save. */
    private boolean beginSave(long step, TrainingState state) {
        Objects.requireNonNull(state, "state");
        if (step < 0) {
            throw new IllegalArgumentException("need a step from 0 on, found " + step);
        }
        settle();
        return step != lastSaved;
    }

    /**
     * Throws what made a save in the background fail, if one has; it waits for nothing. A training loop calls it once per step. Any
     * rank may call it alone.
     *
     * @throws CheckpointException if the last save in the background has failed
     */
    public void check() {
        if (running != null && running.isOver()) {
            wasTold = true;
            running.await();
            settle();
        }
    }

    /** Waits for the save in the background; throws what made it fail, once. */
    private void settle() {
        if (running != null) {
            BackgroundSave save = running;
            try {
                save.await();
                lastSaved = save.step();
            } finally {
                if (save.isOver()) { // else the wait was interrupted, and the save goes on
                    forget();
                }
            }
        }
    }

    private void forget() {
        running = null;
        wasTold = false;
    }

    /**
     * Says what the latest checkpoint says of itself, so that a job can be set up by it before it is loaded.
     *
     * @return step, world size and metadata, the same on all ranks; empty if there is no checkpoint
     * @throws CheckpointException on all ranks, if it cannot be read, or a save in the background has failed
     * @throws ferro.FerroException if a rank dies or does not come
     */
    public Optional<CheckpointInfo> latest() {
        settle();
        return ranks.together(() -> new LoadRun(ranks, storage).latest()).map(CheckpointManifest::info);
    }

    /**
     * Loads the latest checkpoint. Names, types and shapes are compared on all ranks before an element is written. If a job that
     * saves meanwhile deletes what is loaded, the newer checkpoint is loaded instead.
     *
     * @param into takes all parameters, and, if any rank has slices, the state of the optimizer: each rank the elements of its own
     *     slices. Its metadata is not looked at
     * @return what the checkpoint says of itself
     * @throws CheckpointException on all ranks, if there is none, tensors are missing, not expected or different, a file is missing
     *     or damaged, or a save in the background has failed; in a damaged file's case tensors may have been written
     * @throws ferro.FerroException if a rank dies or does not come
     */
    public CheckpointInfo load(TrainingState into) {
        Objects.requireNonNull(into, "into");
        settle();
        lastSaved = NONE;
        LoadRun run = new LoadRun(ranks, storage);
        CheckpointInfo loaded = ranks.together(() -> run.loadLatest(into));
        lastSaved = loaded.step();
        return loaded;
    }

    /**
     * Loads the checkpoint of a step, as {@link #load(TrainingState)} does the latest one.
     *
     * @param step the step
     * @param into takes parameters and state
     * @return what the checkpoint says of itself
     * @throws CheckpointException on all ranks, as {@link #load(TrainingState)}
     * @throws ferro.FerroException if a rank dies or does not come
     */
    public CheckpointInfo load(long step, TrainingState into) {
        Objects.requireNonNull(into, "into");
        settle();
        lastSaved = NONE;
        LoadRun run = new LoadRun(ranks, storage);
        return ranks.together(() -> run.load(run.of(step), into));
    }

    /**
     * Waits for the save in the background, and closes the group of its own.
     *
     * @throws CheckpointException if that save has failed and no call has told it yet
     */
    @Override
    public void close() {
        boolean tell = !wasTold;
        BackgroundSave save = running;
        forget();
        try {
            if (save != null && tell) {
                save.await();
            }
        } finally {
            group.close();
        }
    }
}
