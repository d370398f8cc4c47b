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
import ferro.training.checkpoint.Resume;
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
 * <p>Use this optimizer in a training config instead of the optimizer that it wraps. The training loop does not change,
 * even if it is {@link ai.djl.training.EasyTrain#fit}. When DJL requests the first update of a step, this optimizer
 * averages all gradients, in buckets. Each update then passes an average to the wrapped optimizer. No gradient is sent
 * while gradients are computed. A {@link StagedBlock} does send gradients during that time.
 *
 * <p>Parameters are identified by their names in the model. DJL's own ids of parameters differ from process to process.
 * The order in which DJL requests updates also differs from process to process.
 *
 * <p>All ranks need the same model with the same values: call {@link #broadcastParameters} after the trainer has
 * initialized the model. The loss of each rank must be the mean over its own samples, and all ranks must have the same
 * number of samples. The average is then the gradient over the samples of all ranks. If ranks have different numbers of
 * batches, use {@link #trainUneven}.
 *
 * <p>If a step fails on one rank, it fails on all ranks. Examples of such failures are calls in another order than a
 * trainer makes them, and a wrapped optimizer that throws an exception. After such a failure, calls that wait on other
 * ranks fail with the message of the first failure. The group that was passed to this optimizer remains usable.
 *
 * <p>A parameter that did not contribute to the loss has a gradient of zeros, as everywhere in DJL. This class is not
 * thread-safe: only DJL's trainer calls it.
 */
public final class DistributedOptimizer extends Optimizer implements AutoCloseable {
    private final ProcessGroup group;
    private final Block block;
    private final Optimizer inner;
    private final BucketSettings settings;
    private final GradientHook hook;
    private TrainableParameters parameters;
    private GradientBuckets buckets;
    private StepTimes lastStep = new StepTimes(Duration.ZERO, Duration.ZERO);
    /** The indices of the parameters whose gradients have been passed to the buckets in this step. */
    private final BitSet ready = new BitSet();
    /** The indices of the parameters that DJL has not updated yet in this step. */
    private final BitSet pending = new BitSet();

    private DistributedOptimizer(
            ProcessGroup group, Block block, Optimizer inner, BucketSettings settings, GradientHook hook) {
        super(new EmptyBuilder());
        this.group = Objects.requireNonNull(group, "group");
        this.block = Objects.requireNonNull(block, "block");
        this.inner = Objects.requireNonNull(inner, "inner");
        this.settings = Objects.requireNonNull(settings, "settings");
        this.hook = Objects.requireNonNull(hook, "hook");
    }

    /**
     * The builder that the constructor of every DJL optimizer needs. This builder has no settings, because the wrapped
     * optimizer has its own settings.
     */
    private static final class EmptyBuilder extends OptimizerBuilder<EmptyBuilder> {
        @Override
        protected EmptyBuilder self() {
            return this;
        }
    }

    /**
     * Wraps an optimizer. The buckets have the default sizes, and the gradients are sent without compression.
     *
     * @param group the ranks that train together
     * @param block the model, which must be the same on all ranks; it need not be initialized yet
     * @param inner the wrapped optimizer, which receives the averages
     * @return the optimizer for the training config
     */
    public static DistributedOptimizer over(ProcessGroup group, Block block, Optimizer inner) {
        return over(group, block, inner, BucketSettings.DEFAULT, GradientHook.average());
    }

    /**
     * Wraps an optimizer, with given buckets and a given hook.
     *
     * @param group the ranks that train together
     * @param block the model, which must be the same on all ranks; it need not be initialized yet
     * @param inner the wrapped optimizer, which receives the averages
     * @param settings the sizes of the buckets; they must be the same on all ranks
     * @param hook the hook that averages the gradients of a bucket; it must be the same on all ranks
     * @return the optimizer for the training config
     */
    public static DistributedOptimizer over(
            ProcessGroup group, Block block, Optimizer inner, BucketSettings settings, GradientHook hook) {
        return new DistributedOptimizer(group, block, inner, settings, hook);
    }

    /**
     * Copies the parameters of rank 0 to all ranks. The call also copies parameters that are not trained, such as
     * running means. All ranks must make this collective call after {@link ai.djl.training.Trainer#initialize} and
     * before the first batch.
     *
     * @throws ferro.FerroException if a rank is lost, or the models of the ranks differ
     * @throws UnsupportedOperationException if the model is not in host memory, or has a type other than f32 and f64
     */
    public void broadcastParameters() {
        List<NDArray> arrays = new ArrayList<>();
        List<HostTensor> values = new ArrayList<>();
        for (ai.djl.util.Pair<String, Parameter> named : block.getParameters()) {
            NDArray array = named.getValue().getArray();
            HostTensor buffer = TrainableParameters.hostBuffer(named.getKey(), array);
            NDArrayCopier.read(array, buffer);
            arrays.add(array);
            values.add(buffer);
        }
        Replicas.of(group).broadcast(values, 0);
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayCopier.write(values.get(at), arrays.get(at));
        }
    }

    /**
     * Trains until no rank has any more batches. The ranks may have different numbers of batches. All ranks must make
     * this collective call. Each step averages the gradients of the ranks that have a batch; a smaller batch has the
     * same weight as a larger one. Ranks without a batch apply the same average, so all replicas stay equal.
     *
     * <p>Once a rank has no more batches, collective calls that {@code gradients} makes itself fail with MISMATCH.
     *
     * @param trainer the initialized trainer with this optimizer; this method calls its {@code step}
     * @param batches the batches of this rank, in any number; this method closes each batch
     * @param gradients computes the gradients of a batch, as {@link ai.djl.training.EasyTrain#trainBatch} or
     *     {@link StagedBlock#trainBatch} do; it must not call the trainer's {@code step}
     * @return the number of steps, which is the same on all ranks
     * @throws IllegalStateException for the same reasons as {@link #update}
     * @throws ferro.FerroException if a rank is lost, or if a step fails with an exception on one rank
     */
    public long trainUneven(Trainer trainer, Iterable<Batch> batches, Consumer<? super Batch> gradients) {
        Objects.requireNonNull(trainer, "trainer");
        Objects.requireNonNull(batches, "batches");
        Objects.requireNonNull(gradients, "gradients");
        parameters();
        long steps = 0;
        Iterator<Batch> owned = new BatchIterator(batches.iterator(), trainer.getManager());
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

    /**
     * Updates all parameters, as a trainer does. The trainer itself cannot update parameters on a rank without a batch,
     * because the trainer needs gradients of this rank.
     */
    private void stepWithoutBatch() {
        lastStep = buckets.finish();
        for (int index = 0; index < parameters.size(); index++) {
            NDArray weight = parameters.get(index).getArray();
            try (NDManager scope = weight.getManager().newSubManager()) {
                NDArray average = scope.zeros(weight.getShape(), weight.getDataType());
                NDArrayCopier.write(buckets.gradient(index), average);
                inner.update(parameters.get(index).getId(), weight, average);
            }
        }
    }

    /**
     * Runs a part of a step. If the part throws an exception, this method aborts the group of the buckets, because the
     * other ranks cannot end the step either.
     */
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
     * Updates one parameter with the average of its gradient over all ranks. The first call of a step is a collective
     * call.
     *
     * @param parameterId DJL's id of the parameter
     * @param weight the values of the parameter
     * @param grad the gradient of this rank; the average overwrites it
     * @throws IllegalStateException if DJL did not update all parameters in the previous step, or if the ranks began
     *     with different values
     * @throws ferro.FerroException if a rank is lost, or if the step fails with an exception on one rank
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
                    + "\" a second time in a step, but it has not updated " + pendingNames()
                    + " yet: train on one device per process, and do not freeze parameters after the first step");
        }
        pending.clear(index);
        NDArrayCopier.write(buckets.gradient(index), grad);
        inner.update(parameterId, weight, grad);
    }

    /**
     * Accepts the complete gradient of a parameter. The gradient is sent as soon as its bucket is full. The first call
     * before the first step is a collective call.
     */
    void ready(Parameter parameter) {
        endingOnAllRanks(() -> putReady(parameter));
    }

    /**
     * Ends the step on all ranks if this rank has already passed on some gradients of the step, because the other ranks
     * would wait for the remaining gradients.
     */
    void failed(Throwable failure) {
        if (!ready.isEmpty()) {
            buckets.group().abort(failure);
        }
    }

    private void putReady(Parameter parameter) {
        int index = parameters().indexOf(parameter.getId());
        if (ready.get(index) || !pending.isEmpty()) {
            throw new IllegalStateException("the gradient of parameter \"" + parameters.nameOf(index)
                    + "\" is computed a second time, but DJL has not yet updated "
                    + (pending.isEmpty() ? "it" : pendingNames())
                    + " with the first gradient: call the trainer's step() after each trainBatch, and set this"
                    + " optimizer in the trainer's config");
        }
        put(index);
    }

    /** Returns the trained parameters. The first call finds out which are trained, and builds the buckets. */
    private TrainableParameters parameters() {
        if (parameters == null) {
            TrainableParameters found = trained();
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

    private TrainableParameters trained() {
        try {
            return new TrainableParameters(block);
        } catch (RuntimeException failure) {
            // the other ranks may already be waiting in a call of the group that builds the buckets
            group.abort(failure);
            throw failure;
        }
    }

    /** Checks that all ranks begin with the same values. The check copies the values to the memory of the gradients. */
    private void checkEqual(TrainableParameters found, GradientBuckets buffers) {
        Map<String, HostTensor> values = new HashMap<>();
        for (int index = 0; index < found.size(); index++) {
            NDArrayCopier.read(found.get(index).getArray(), buffers.gradient(index));
            values.put(found.nameOf(index), buffers.gradient(index));
        }
        try {
            Replicas.of(group).checkEqual(values);
        } catch (IllegalStateException differing) {
            throw new IllegalStateException(
                    "before the first step " + differing.getMessage()
                            + ": call broadcastParameters() on all ranks after the trainer has initialized the model",
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

    /** Copies the complete gradient of a parameter to its bucket. */
    private void put(int index) {
        NDArray array = parameters.get(index).getArray();
        try (NDManager scope = array.getManager().newSubManager()) {
            NDArray gradient = array.getGradient();
            gradient.attach(scope);
            NDArrayCopier.read(gradient, buckets.gradient(index));
        }
        ready.set(index);
        buckets.ready(index);
    }

    /**
     * {@return how long the last step waited, and how much of its communication time computation hid; zeros before the
     * first step}
     */
    public StepTimes lastStep() {
        return lastStep;
    }

    private String pendingNames() {
        return pending.stream().mapToObj(parameters::nameOf).collect(Collectors.joining("\", \"", "\"", "\""));
    }

    /**
     * Saves all parameters and the state of the wrapped optimizer. The checkpoint also contains parameters that are not
     * trained. All ranks must make this collective call between two steps. Before the save, the parameters of rank 0
     * that are not trained, such as running means, are copied to all ranks. Trained parameters and the optimizer's
     * state must be equal on all ranks.
     *
     * @param checkpoints the checkpoints of the group
     * @param step the number of the step after which the state is saved
     * @param metadata additional strings to save, such as the position in the data; the names {@code djl.optimizer} and
     *     {@code djl.steps} are reserved
     * @throws IllegalArgumentException if {@code metadata} has one of the two reserved names
     * @throws UnsupportedOperationException if the wrapped optimizer is not an optimizer of ferro, because its state
     *     cannot be read
     * @throws ferro.training.checkpoint.CheckpointException if the save fails, or if the values of the ranks differ;
     *     all ranks throw this exception
     * @throws ferro.FerroException if a rank is lost
     */
    public void save(Checkpoints checkpoints, long step, Map<String, String> metadata) {
        checkpoints.save(
                step,
                SavedModel.of(block, stateful()).read().broadcastBuffers(group).state(metadata));
    }

    /**
     * Loads the latest checkpoint into the model and the wrapped optimizer. All ranks must make this collective call
     * after the trainer has initialized the model. The number of ranks may differ from the number at the save. After
     * this call, {@link #broadcastParameters} is not needed.
     *
     * @param checkpoints the checkpoints of the group
     * @return the description of the loaded checkpoint, with its step and metadata
     * @throws UnsupportedOperationException if the wrapped optimizer is not an optimizer of ferro, because its state
     *     cannot be set
     * @throws IllegalArgumentException if {@link #save} did not write the checkpoint, or wrote it with another kind of
     *     optimizer
     * @throws ferro.training.checkpoint.CheckpointException if there is no checkpoint, or if the checkpoint does not
     *     fit the model; all ranks throw this exception
     * @throws ferro.FerroException if a rank is lost
     */
    public CheckpointInfo load(Checkpoints checkpoints) {
        SavedModel into = SavedModel.of(block, stateful());
        checkpoints.latest().ifPresent(latest -> into.check(latest.metadata()));
        CheckpointInfo info = checkpoints.load(into.state(Map.of()));
        into.write(info.metadata());
        return info;
    }

    /**
     * Loads the newest undamaged checkpoint, in the same way as {@link #load}. If there is no checkpoint, the training
     * begins, and the call copies the parameters of rank 0 to all ranks. All ranks must make this collective call after
     * the trainer has initialized the model.
     *
     * @param checkpoints the checkpoints of the group
     * @return the step after which the training continues; 0 if the training begins
     * @throws UnsupportedOperationException if the wrapped optimizer is not an optimizer of ferro, because its state
     *     cannot be set
     * @throws IllegalArgumentException if {@link #save} did not write the checkpoint, or wrote it with another kind of
     *     optimizer
     * @throws ferro.training.checkpoint.CheckpointException if the checkpoint does not fit the model, or if all
     *     checkpoints are damaged; all ranks throw this exception
     * @throws ferro.FerroException if a rank is lost
     */
    public long resume(Checkpoints checkpoints) {
        SavedModel into = SavedModel.of(block, stateful());
        Resume resume = Resume.from(checkpoints, into.state(Map.of()), metadata -> {
            into.check(metadata);
            into.write(metadata);
        });
        if (resume.checkpoint().isEmpty()) {
            broadcastParameters();
        }
        return resume.step();
    }

    private StatefulOptimizer stateful() {
        if (inner instanceof StatefulOptimizer stateful) {
            return stateful;
        }
        throw new UnsupportedOperationException("optimizer " + inner.getClass().getName()
                + " does not expose its state, so the state cannot be saved: train with "
                + DjlAdam.class.getSimpleName()
                + ", " + DjlAdamW.class.getSimpleName() + " or " + DjlSgd.class.getSimpleName()
                + ", which compute the same bits as DJL's optimizers, or save only the model with its save method");
    }

    /**
     * Closes the group of the buckets, and frees the state of ferro's optimizers. The group that was passed to this
     * optimizer and the model remain usable.
     */
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
