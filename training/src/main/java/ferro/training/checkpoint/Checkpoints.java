package ferro.training.checkpoint;

import ferro.group.ProcessGroup;
import ferro.job.HostFacts;
import ferro.training.checkpoint.MessageExchange.ReportingStorage;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The checkpoints of a group in a storage. All ranks must call each method except {@link #check} in the same order.
 *
 * <p>A save writes the files of a step into a new folder. The save then publishes the step with one atomic rename. So a
 * crash at any time leaves either the previous checkpoint or the new checkpoint complete. Parameters are stored in
 * safetensors files with an index. Other programs can open these files. Each rank writes some complete parameters, and
 * all ranks write about the same number of bytes. Each rank writes the state of the optimizer in the ranges that it
 * holds. Any number of ranks can load a checkpoint that any other number of ranks has saved.
 *
 * {@snippet file="ferro/examples/snippets/CheckpointSnippetsTest.java" region="checkpoints" :
 *
 * NamedTensor weight = NamedTensor.of("dense.weight", model.weight(), 2, 3);
 * StateSlice average = StateSlice.of("exp_avg", "dense.weight", model.from(), model.average());
 * TrainingState state = TrainingState.of(List.of(weight)).withSlices(List.of(average));
 * CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(3);
 * try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder), settings)) {
 *     long step =
 *             checkpoints.latest().isPresent() ? checkpoints.load(state).step() : 0;
 *     while (step < last) {
 *         model.train();
 *         step++;
 *         checkpoints.check(); // throws if a save in the background has failed
 *         if (step % 10 == 0) {
 *             checkpoints.saveAsync(step, state.withMetadata(Map.of("epoch", "1")));
 *         }
 *     }
 *     return step;
 * }
 * }
 *
 * <p>If several ranks hold the same tensor, only one rank writes the tensor. Several ranks hold all parameters and some
 * ranges of state. A save first compares the tensors that several ranks hold. If a tensor differs between ranks, the
 * save fails on all ranks. {@link CheckpointSettings#withCompareRanks} can turn the comparison off.
 *
 * <p>The first save makes this object the owner of the folder ({@link StateFolder}). After this save, a job that has
 * saved in the folder before can no longer save in the folder. Another {@code Checkpoints} object of this job can no
 * longer save in the folder either. If a later generation of the job has saved in the folder since this object was
 * opened, this object cannot save. Opening and loading do not change the owner, so any job may load while another job
 * saves.
 *
 * <p>A {@code Checkpoints} object creates a new group from all ranks of the group that it is opened with. Because of
 * the new group, a save in the background does not interfere with calls on the original group. On each rank only one
 * thread may call the methods.
 *
 * <p>A save or a load fails on all ranks if one rank makes no progress within the deadline. The deadline is the
 * deadline of the group ({@code ferro.timeout}, 120 s), or the deadline of {@link CheckpointSettings#withDeadline}.
 * Each call of the storage is progress, and so is each block of a file that is written or read. So a save of large
 * files may take longer than the deadline. A call of this object returns only when its calls of the storage have
 * returned.
 */
public final class Checkpoints implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.training");
    private static final long NONE = -1;

    /** The group that this object is opened with. */
    private final ProcessGroup opened;

    private final ProcessGroup group;
    private final MessageExchange ranks;
    private final CheckpointStorage storage;
    private final StateFolder folder;
    private final CheckpointSettings settings;
    private BackgroundSave running;
    private boolean wasReported;
    /** The last saved step, which is not saved again; -1 if another checkpoint has been loaded since that save. */
    private long lastSaved = NONE;

    private Checkpoints(
            ProcessGroup opened,
            ProcessGroup group,
            StateFolder folder,
            CheckpointSettings settings,
            MessageExchange ranks) {
        this.opened = opened;
        this.group = group;
        this.folder = folder;
        this.settings = settings;
        this.ranks = ranks;
        storage = folder.storage();
    }

    /**
     * Opens a storage for all ranks of a group, with the default settings. All checkpoints are kept.
     *
     * @param group   the group; {@link #close} does not close this group, and the checkpoints can be used after the
     *     group is closed
     * @param storage the storage of the checkpoints; all ranks must pass the same storage
     * @return the checkpoints of the group
     * @throws IllegalStateException if the group is closed
     * @throws UnsupportedOperationException if the back end of the group cannot create groups
     * @throws ferro.FerroException if a rank does not make this call, or the group has failed
     */
    public static Checkpoints open(ProcessGroup group, CheckpointStorage storage) {
        return open(group, storage, CheckpointSettings.DEFAULT);
    }

    /**
     * Opens a storage for all ranks of a group, with the given settings.
     *
     * @param group    the group; {@link #close} does not close this group, and the checkpoints can be used after the
     *     group is closed
     * @param storage  the storage of the checkpoints; all ranks must pass the same storage
     * @param settings settings such as the number of checkpoints to keep and the timeout; equal on all ranks
     * @return the checkpoints of the group
     * @throws IllegalStateException if the group is closed
     * @throws UnsupportedOperationException if the back end of the group cannot create groups
     * @throws ferro.FerroException if a rank does not make this call, or the group has failed
     */
    public static Checkpoints open(ProcessGroup group, CheckpointStorage storage, CheckpointSettings settings) {
        return open(group, storage, settings, HostFacts.ofThisHost().hostName());
    }

    /** Opens a storage for all ranks of a group. Messages name this rank's host with the given name. */
    static Checkpoints open(ProcessGroup group, CheckpointStorage storage, CheckpointSettings settings, String host) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(storage, "storage");
        Objects.requireNonNull(settings, "settings");
        ReportingStorage reporting = new ReportingStorage(storage);
        StateFolder folder = new StateFolder(reporting, host, null, group.generation());
        if (group.rank() == 0) {
            listOwners(folder);
        }
        ProcessGroup own = group.newGroup(IntStream.range(0, group.worldSize()).toArray());
        MessageExchange ranks = new MessageExchange(own, settings.deadline().orElse(group.timeout()), reporting, host);
        return new Checkpoints(group, own, folder, settings, ranks);
    }

    /**
     * Lists the owners of the folder before all ranks make the group. If rank 0 was stopped while it listed the owners,
     * rank 0 then fails, because its group has no other ranks any more. If the storage fails, the first save lists the
     * owners.
     */
    private static void listOwners(StateFolder folder) {
        try {
            folder.open();
        } catch (IOException | RuntimeException failure) {
            LOG.log(Level.DEBUG, () -> "cannot list " + folder.storage() + " yet: " + MessageFormatter.of(failure));
        }
    }

    /**
     * Saves a checkpoint. Returns after the checkpoint has become the latest checkpoint.
     *
     * <p>If this object has already saved the step, or has loaded the step as the latest checkpoint, the call does
     * nothing. If this object has saved the step and has since loaded an older step, the call fails while the saved
     * step is the latest checkpoint.
     *
     * @param step  the step after which the state is saved; 0 or more
     * @param state the state to save
     * @throws CheckpointException on all ranks, if the save fails on one rank, or if an earlier save in the background
     *     has failed. After a failed save, the previous checkpoint is still the latest checkpoint. The save also fails
     *     if another job has become the owner of the folder. The message then names the host, the process and the name
     *     of the other job
     * @throws IllegalArgumentException if the step is negative
     * @throws ferro.FerroException if a rank dies, does not make this call, or makes no progress within the deadline
     */
    public void save(long step, TrainingState state) {
        if (beginSave(step, state)) {
            ranks.together(
                    () -> SaveRun.planned(ranks, folder, settings, step, state).run());
            lastSaved = step;
        }
    }

    /**
     * Copies the tensors that this rank has to write, and saves the copy in the background. If an earlier save is still
     * running, the call first waits for the end of that save. After this method has returned, the tensors may be
     * changed.
     *
     * <p>If the save fails in the background, {@link #check}, the next save, the next load or {@link #close} throws the
     * failure. If this object has already saved the step, or has loaded the step as the latest checkpoint, the call
     * does nothing. If this object has saved the step and has since loaded an older step, the call fails while the
     * saved step is the latest checkpoint.
     *
     * @param step  the step after which the state is saved; 0 or more
     * @param state the state to save
     * @throws CheckpointException on all ranks, if ranks pass different steps, settings or tensors, if the previous
     *     save has failed, or if another job has become the owner of the folder
     * @throws IllegalArgumentException if the step is negative
     * @throws ferro.FerroException if a rank dies, does not make this call, or makes no progress within the deadline
     */
    public void saveAsync(long step, TrainingState state) {
        if (beginSave(step, state)) {
            running = ranks.together(() -> {
                SaveRun run = SaveRun.planned(ranks, folder, settings, step, state);
                run.copy();
                return BackgroundSave.start(run, ranks, opened);
            });
        }
    }

    /** Waits for the end of the previous save. Returns false if the step is already saved. */
    private boolean beginSave(long step, TrainingState state) {
        Objects.requireNonNull(state, "state");
        if (step < 0) {
            throw new IllegalArgumentException("need a step of 0 or more, found " + step);
        }
        awaitBackgroundSave();
        return step != lastSaved;
    }

    /**
     * Throws an exception if a save in the background has failed. This method does not wait. A training loop should
     * call this method once per step. A rank may call this method without the other ranks.
     *
     * @throws CheckpointException if the last save in the background has failed
     */
    public void check() {
        if (running != null && running.isOver()) {
            wasReported = true;
            running.await();
            awaitBackgroundSave();
        }
    }

    /** Waits for the end of the save in the background. Throws the failure of the save, but only once. */
    private void awaitBackgroundSave() {
        if (running != null) {
            BackgroundSave save = running;
            try {
                save.await();
                lastSaved = save.step();
            } finally {
                if (save.isOver()) { // otherwise the wait was interrupted, and the save is still running
                    forget();
                }
            }
        }
    }

    private void forget() {
        running = null;
        wasReported = false;
    }

    /**
     * Returns the description of the latest checkpoint. A job can use the description to create its model before it
     * loads the checkpoint.
     *
     * @return step, world size and metadata, equal on all ranks; empty without a checkpoint
     * @throws CheckpointException on all ranks, if the description cannot be read, or if a save in the background has
     *     failed
     * @throws ferro.FerroException if a rank dies, does not make this call, or makes no progress within the deadline
     */
    public Optional<CheckpointInfo> latest() {
        awaitBackgroundSave();
        return ranks.together(() -> new LoadRun(ranks, storage).latest()).map(CheckpointManifest::info);
    }

    /**
     * Loads the latest checkpoint. All ranks compare names, types and shapes before any rank writes an element of a
     * tensor. If a saving job deletes the checkpoint during the load, the newer checkpoint is loaded instead.
     *
     * @param into the tensors that are filled. Each rank loads all parameters. If any rank has slices, each rank also
     *     loads the elements of its own slices from the state of the optimizer. The metadata is ignored
     * @return the description of the checkpoint
     * @throws CheckpointException on all ranks, if no checkpoint exists, if tensors are missing, unexpected or
     *     different, if a file is missing or damaged, or if a save in the background has failed. If a file is damaged,
     *     some tensors may already have been written
     * @throws ferro.FerroException if a rank dies, does not make this call, or makes no progress within the deadline
     */
    public CheckpointInfo load(TrainingState into) {
        Objects.requireNonNull(into, "into");
        awaitBackgroundSave();
        lastSaved = NONE;
        LoadRun run = new LoadRun(ranks, storage);
        CheckpointInfo loaded = ranks.together(() -> run.loadLatest(into));
        lastSaved = loaded.step();
        return loaded;
    }

    /** Loads the newest undamaged checkpoint, for {@link Resume}. The result is empty if no checkpoint exists. */
    Optional<CheckpointInfo> loadNewestUndamaged(TrainingState into) {
        awaitBackgroundSave();
        lastSaved = NONE;
        return ranks.together(() -> new NewestCheckpointLoad(ranks, storage).load(into));
    }

    /** Returns how often the job of the group has been started again. */
    int generation() {
        return group.generation();
    }

    boolean isFirstRank() {
        return group.rank() == 0;
    }

    /**
     * Loads the checkpoint of a step in the same way as {@link #load(TrainingState)} loads the latest checkpoint. If
     * several jobs have saved the step, the checkpoint of the latest owner is loaded.
     *
     * @param step number of the step whose checkpoint is loaded
     * @param into the tensors that are filled
     * @return the description of the checkpoint
     * @throws CheckpointException on all ranks, for the same reasons as {@link #load(TrainingState)}
     * @throws ferro.FerroException if a rank dies, does not make this call, or makes no progress within the deadline
     */
    public CheckpointInfo load(long step, TrainingState into) {
        Objects.requireNonNull(into, "into");
        awaitBackgroundSave();
        lastSaved = NONE;
        LoadRun run = new LoadRun(ranks, storage);
        return ranks.together(() -> run.load(run.of(step), into));
    }

    /**
     * Waits for the end of the save in the background, and closes the group that this object has created. The call
     * waits at most 5 s for the save if the group with which this object was opened has failed, or if the save has made
     * no progress within the deadline.
     *
     * @throws CheckpointException if the save has failed and no other call has thrown the failure yet, or if the save
     *     does not end within 5 s after a failure of the group or after a deadline without progress
     */
    @Override
    public void close() {
        boolean report = !wasReported;
        BackgroundSave save = running;
        forget();
        try {
            if (save != null && report) {
                save.await();
            }
        } finally {
            group.close();
        }
    }
}
