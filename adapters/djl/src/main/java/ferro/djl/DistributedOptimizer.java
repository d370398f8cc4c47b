package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.optimizer.Optimizer;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.training.BucketSettings;
import ferro.training.GradientBuckets;
import ferro.training.GradientHook;
import ferro.training.Join;
import ferro.training.Replicas;
import ferro.training.StepTimes;
import ferro.training.checkpoint.CheckpointInfo;
import ferro.training.checkpoint.Checkpoints;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * An optimizer of DJL that applies the average of the gradients of all ranks.
 *
 * <p>It stands in a training config in place of the optimizer that it wraps; the training loop stays as it is, also
 * {@link ai.djl.training.EasyTrain#fit}. When DJL asks for the first update of a step, all gradients are averaged, in buckets; each
 * update then hands the average to the wrapped optimizer. Nothing travels while gradients are computed; see {@link StagedBlock} for
 * that.
 *
 * <p>Parameters are told apart by their names in the model. DJL's own ids differ from process to process, and so does the order in
 * which it asks for updates.
 *
 * <p>All ranks need the same model with the same values: {@link #broadcastParameters} after the trainer has initialized it. Each rank
 * gives its loss as the mean over its own samples, and all ranks have as many: then the average is the gradient over all of them.
 * Ranks that have different numbers of batches train by {@link #trainUneven}.
 *
 * <p>A step that cannot end on this rank (calls in another order than a trainer's, a wrapped optimizer that throws) ends on all ranks:
 * the other ranks hear of it, with its text, in the call in which they wait. The group that was given goes on.
 *
 * <p>A parameter that had no part in the loss has a gradient of zeros, as everywhere in DJL. Not thread-safe: DJL's trainer calls it.
 */
public final class DistributedOptimizer extends Optimizer implements AutoCloseable {
    private final ProcessGroup group;
    private final Block block;
    private final Optimizer inner;
    private final BucketSettings settings;
    private final GradientHook hook;
    private TrainedParameters parameters;
    private GradientBuckets buckets;
    private StepTimes lastStep = new StepTimes(Duration.ZERO, Duration.ZERO);
    /** Parameters whose gradients have been handed over in this step. */
    private final BitSet ready = new BitSet();
    /** Parameters that DJL has still to update in this step. */
    private final BitSet pending = new BitSet();

    private DistributedOptimizer(
            ProcessGroup group, Block block, Optimizer inner, BucketSettings settings, GradientHook hook) {
        super(new NoSettings());
        this.group = Objects.requireNonNull(group, "group");
        this.block = Objects.requireNonNull(block, "block");
        this.inner = Objects.requireNonNull(inner, "inner");
        this.settings = Objects.requireNonNull(settings, "settings");
        this.hook = Objects.requireNonNull(hook, "hook");
    }

    /** What every optimizer of DJL is made of; the wrapped one has settings of its own. */
    private static final class NoSettings extends OptimizerBuilder<NoSettings> {
        @Override
        protected NoSettings self() {
            return this;
        }
    }

    /**
     * Wraps an optimizer; buckets have the usual sizes, and travel as they are.
     *
     * @param group the ranks that train together
     * @param block the model, of which each rank has the same one; it need not be initialized yet
     * @param inner the optimizer that is given averages
     * @return the optimizer for the training config
     */
    public static DistributedOptimizer over(ProcessGroup group, Block block, Optimizer inner) {
        return over(group, block, inner, BucketSettings.DEFAULT, GradientHook.average());
    }

    /**
     * Wraps an optimizer.
     *
     * @param group the ranks that train together
     * @param block the model, of which each rank has the same one; it need not be initialized yet
     * @param inner the optimizer that is given averages
     * @param settings how large the buckets are, the same on all ranks
     * @param hook what travels of a bucket, the same on all ranks
     * @return the optimizer for the training config
     */
    public static DistributedOptimizer over(
            ProcessGroup group, Block block, Optimizer inner, BucketSettings settings, GradientHook hook) {
        return new DistributedOptimizer(group, block, inner, settings, hook);
    }

    /**
     * Gives all ranks the parameters of rank 0, also those that are not trained, such as running means. A collective call: every rank
     * makes it, after {@link ai.djl.training.Trainer#initialize} and before the first batch.
     *
     * @throws ferro.FerroException if a rank is lost, or the models differ
     * @throws UnsupportedOperationException if the model is not in host memory, or has a type other than f32 and f64
     */
    public void broadcastParameters() {
        List<NDArray> arrays = new ArrayList<>();
        List<HostTensor> values = new ArrayList<>();
        for (ai.djl.util.Pair<String, Parameter> named : block.getParameters()) {
            NDArray array = named.getValue().getArray();
            HostTensor room = TrainedParameters.room(named.getKey(), array);
            NDArrayMemory.read(array, room);
            arrays.add(array);
            values.add(room);
        }
        Replicas.of(group).broadcast(values, 0);
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayMemory.write(values.get(at), arrays.get(at));
        }
    }

    /**
     * Trains on batches of which ranks may have different numbers, until the last rank has run out. All ranks call it. Gradients are
     * averaged over the ranks that have a batch in a step, whatever its size; the others apply the average too, so that all replicas
     * stay equal. Collective calls that {@code gradients} makes itself end with MISMATCH once a rank has run out.
     *
     * @param trainer the trainer with this optimizer, initialized; it steps here
     * @param batches this rank's batches, any number; each is closed here
     * @param gradients computes the gradients of a batch, as {@link ai.djl.training.EasyTrain#trainBatch} or
     *     {@link StagedBlock#trainBatch} do, and does not step
     * @return how many steps were made, the same number on all ranks
     * @throws IllegalStateException as {@link #update}
     * @throws ferro.FerroException if a rank is lost, or a step ends by an exception on one
     */
    public long trainUneven(Trainer trainer, Iterable<Batch> batches, Consumer<? super Batch> gradients) {
        Objects.requireNonNull(trainer, "trainer");
        Objects.requireNonNull(batches, "batches");
        Objects.requireNonNull(gradients, "gradients");
        parameters();
        long steps = 0;
        Iterator<Batch> owned = new OwnedBatches(batches.iterator(), trainer.getManager());
        try (Join<Batch> join = Join.over(buckets, owned)) {
            for (; join.next(); steps++) {
                join.withBatch(batch -> {
                    try (batch) {
                        gradients.accept(batch);
                    }
                });
                if (join.hasBatch()) {
                    trainer.step();
                } else {
                    endingOnAllRanks(this::stepWithoutBatch);
                }
            }
        }
        return steps;
    }

    /** Does what a trainer does, which would ask for gradients of its own. */
    private void stepWithoutBatch() {
        lastStep = buckets.finish();
        for (int index = 0; index < parameters.size(); index++) {
            NDArray weight = parameters.get(index).getArray();
            try (NDManager scope = weight.getManager().newSubManager()) {
                NDArray average = scope.zeros(weight.getShape(), weight.getDataType());
                NDArrayMemory.write(buckets.gradient(index), average);
                inner.update(parameters.get(index).getId(), weight, average);
            }
        }
    }

    /** A step that ends by an exception here is one that no other rank can end. */
    private void endingOnAllRanks(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error failure) {
            if (buckets != null) {
                buckets.group().abort(failure);
            }
            throw failure;
        }
    }

    /**
     * Updates one parameter by the average of its gradient over all ranks. The first call of a step is collective.
     *
     * @param parameterId DJL's id of the parameter
     * @param weight its values
     * @param grad this rank's gradient; it is overwritten by the average
     * @throws IllegalStateException if DJL did not update all parameters in the step before, or the ranks began with different values
     * @throws ferro.FerroException if a rank is lost, or the step ends by an exception on one
     */
    @Override
    public void update(String parameterId, NDArray weight, NDArray grad) {
        endingOnAllRanks(() -> updateByAverage(parameterId, weight, grad));
    }

    private void updateByAverage(String parameterId, NDArray weight, NDArray grad) {
        int index = parameters().indexOf(parameterId);
        if (pending.isEmpty()) {
            average();
        }
        if (!pending.get(index)) {
            throw new IllegalStateException("DJL updates parameter \"" + parameters.nameOf(index)
                    + "\" a second time in a step that has not updated " + pendingNames()
                    + " yet: train on one device per process, and freeze no parameter once training has begun");
        }
        pending.clear(index);
        NDArrayMemory.write(buckets.gradient(index), grad);
        inner.update(parameterId, weight, grad);
    }

    /** Sends the gradient of a parameter, which is complete, as soon as its bucket is full; collective where it is the first. */
    void ready(Parameter parameter) {
        endingOnAllRanks(() -> putReady(parameter));
    }

    /** Ends a step on all ranks of which some gradients have left, and no others will come. */
    void failed(Throwable failure) {
        if (!ready.isEmpty()) {
            buckets.group().abort(failure);
        }
    }

    private void putReady(Parameter parameter) {
        int index = parameters().indexOf(parameter.getId());
        if (ready.get(index) || !pending.isEmpty()) {
            throw new IllegalStateException(
                    "the gradient of parameter \"" + parameters.nameOf(index)
                            + "\" is computed a second time, and DJL has yet to update "
                            + (pending.isEmpty() ? "it" : pendingNames())
                            + " by the first one: call the trainer's step() after each trainBatch, and give its config this optimizer");
        }
        put(index);
    }

    /** Those that are trained when the first step asks for them. */
    private TrainedParameters parameters() {
        if (parameters == null) {
            TrainedParameters found = trained();
            GradientBuckets built = GradientBuckets.builder(group)
                    .parameters(found.described())
                    .settings(settings)
                    .hook(hook)
                    .build();
            try {
                checkEqual(found, built);
            } catch (RuntimeException failure) {
                built.close();
                throw failure;
            }
            buckets = built;
            parameters = found;
        }
        return parameters;
    }

    private TrainedParameters trained() {
        try {
            return new TrainedParameters(block);
        } catch (RuntimeException failure) {
            // the other ranks may wait in the group already, to build the buckets
            group.abort(failure);
            throw failure;
        }
    }

    /** Compares what ranks begin with, in the room that their gradients will take. */
    private void checkEqual(TrainedParameters found, GradientBuckets room) {
        Map<String, HostTensor> values = new HashMap<>();
        for (int index = 0; index < found.size(); index++) {
            NDArrayMemory.read(found.get(index).getArray(), room.gradient(index));
            values.put(found.nameOf(index), room.gradient(index));
        }
        try {
            Replicas.of(group).checkEqual(values);
        } catch (IllegalStateException differing) {
            throw new IllegalStateException(
                    "before the first step " + differing.getMessage()
                            + ": call broadcastParameters() on all ranks when the trainer has initialized the model",
                    differing);
        }
    }

    private void average() {
        for (int index = parameters.size() - 1; index >= 0; index--) {
            if (!ready.get(index)) {
                put(index);
            }
        }
        lastStep = buckets.finish();
        ready.clear();
        pending.set(0, parameters.size());
    }

    /** Takes the gradient of a parameter as complete. */
    private void put(int index) {
        NDArray array = parameters.get(index).getArray();
        try (NDManager scope = array.getManager().newSubManager()) {
            NDArray gradient = array.getGradient();
            gradient.attach(scope);
            NDArrayMemory.read(gradient, buckets.gradient(index));
        }
        ready.set(index);
        buckets.ready(index);
    }

    /**
     * Says how long the last step communicated.
     *
     * @return how long it waited, and how long computing hid; zeros before the first step
     */
    public StepTimes lastStep() {
        return lastStep;
    }

    private String pendingNames() {
        return pending.stream().mapToObj(parameters::nameOf).collect(Collectors.joining("\", \"", "\"", "\""));
    }

    /**
     * Saves parameters, also those that are not trained, and what the wrapped optimizer remembers. A collective call, between two
     * steps. All ranks get rank 0's parameters that are not trained, such as running means, before they are saved; trained
     * parameters and the optimizer's state must be equal on all ranks.
     *
     * @param checkpoints the checkpoints of the group
     * @param step the step after which this is the state
     * @param metadata strings that are saved too, such as the position in the data; {@code djl.optimizer} and
     *     {@code djl.steps} are taken
     * @throws IllegalArgumentException if one of those two names is used
     * @throws UnsupportedOperationException if the wrapped optimizer is none of ferro's, and keeps its state to itself
     * @throws ferro.training.checkpoint.CheckpointException if the save fails, on all ranks; also if their values differ
     * @throws ferro.FerroException if a rank is lost
     */
    public void save(Checkpoints checkpoints, long step, Map<String, String> metadata) {
        checkpoints.save(
                step,
                SavedModel.of(block, stateful()).read().broadcastBuffers(group).state(metadata));
    }

    /**
     * Loads the latest checkpoint into the model and the wrapped optimizer. A collective call, when the trainer has initialized the
     * model, by as many ranks as there are now; it makes {@link #broadcastParameters} needless.
     *
     * @param checkpoints the checkpoints of the group
     * @return what the checkpoint says of itself
     * @throws UnsupportedOperationException if the wrapped optimizer is none of ferro's, and keeps its state to itself
     * @throws IllegalArgumentException if the checkpoint was not made by {@link #save}, or with another kind of optimizer
     * @throws ferro.training.checkpoint.CheckpointException if there is none, or it does not fit the model, on all ranks
     * @throws ferro.FerroException if a rank is lost
     */
    public CheckpointInfo load(Checkpoints checkpoints) {
        SavedModel into = SavedModel.of(block, stateful());
        checkpoints.latest().ifPresent(latest -> into.check(latest.metadata()));
        CheckpointInfo info = checkpoints.load(into.state(Map.of()));
        into.write(info.metadata());
        return info;
    }

    private StatefulOptimizer stateful() {
        if (inner instanceof StatefulOptimizer stateful) {
            return stateful;
        }
        throw new UnsupportedOperationException("optimizer " + inner.getClass().getName()
                + " keeps its state to itself, so that it cannot be saved: train with " + DjlAdam.class.getSimpleName()
                + ", " + DjlAdamW.class.getSimpleName() + " or " + DjlSgd.class.getSimpleName()
                + ", which compute the same bits as DJL's own, or save the model alone by its save method");
    }

    /** Ends the group in which gradients travel, and frees what ferro's optimizers remember; the group that was given, and the model, stay. */
    @Override
    public void close() {
        if (inner instanceof StatefulOptimizer stateful) {
            stateful.forget();
        }
        if (buckets != null) {
            buckets.close();
        }
    }
}
