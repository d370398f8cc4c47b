package ferro.training;

import ferro.Allocation;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.training.BucketLayout.Bucket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The gradients of a model, averaged over all ranks while the rest of them is still computed.
 *
 * {@snippet file="ferro/examples/snippets/TrainingSnippetsTest.java" region="buckets" :
 *
 * List<Parameter> parameters =
 *         List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
 * try (GradientBuckets buckets =
 *         GradientBuckets.builder(group).parameters(parameters).build()) {
 *     model.backward(batch, buckets); // for each parameter: writes gradient(i), calls ready(i)
 *     buckets.finish(); // each gradient is its average over all ranks
 *     model.update(buckets);
 * }
 * }
 *
 * <p>Gradients lie in buckets ({@link BucketLayout}). A bucket leaves when its last gradient is ready and all buckets before it have
 * left, so that buckets have one order on all ranks, whatever the order of {@link #ready} calls is. {@link #finish} waits for what is
 * still under way; gradients are averages then.
 *
 * <p>A framework either computes into {@link #gradient}, or has memory of its own that {@link #put} copies. Buckets lie in memory that
 * the ranks share, where they share any. They travel in a group of their own, so that no other call waits behind them.
 *
 * <p>{@link #ready} and {@link #put} may be called by several threads at once, each for other parameters. {@link #accumulate},
 * {@link #await} and {@link #finish} are called by one thread at a time, when all gradients of the pass have been said to be ready.
 *
 * <p>A step that cannot end on this rank (a gradient that is ready twice, one that never is, a hook that throws) ends on no rank: the
 * exception aborts the group of the buckets, so that the other ranks hear of it, with its text, in the call in which they wait. The
 * group that the buckets were built in goes on. Deadlines and losses of ranks end a step as they end any collective.
 *
 * <p>Once the first steps are done a step makes no garbage but what the calls of its group make, apart from its result.
 */
public final class GradientBuckets implements AutoCloseable {
    private static final int NAMES_LISTED = 20;
    private static final int ZERO_BYTES = 8192;

    private final Object lock = new Object();
    private final ProcessGroup parent;
    private final ProcessGroup group;
    private final BucketLayout layout;
    private final boolean sharded;
    private final boolean zerosForUnused;
    private final List<Allocation> memory = new ArrayList<>();
    private final List<HostTensor> buckets = new ArrayList<>();
    private final List<HostTensor> ownParts = new ArrayList<>();
    private final List<HostTensor> gradients = new ArrayList<>();
    private final ReadyGradients ready;
    private final BucketsUnderWay underWay;
    private final BatchFlag flag;
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(ZERO_BYTES);
    private boolean accumulating;
    private boolean flushed;
    private long step = 1;
    /** Number of ranks that have data in this step. */
    private int contributors;

    /** The join that has begun this step; null if there is none. */
    private Join<?> join;

    private boolean hasData = true;
    private int withAnotherBatch;

    GradientBuckets(GradientBucketsBuilder builder, BucketLayout layout, ProcessGroup group) {
        parent = builder.group();
        this.group = group;
        this.layout = layout;
        sharded = builder.isSharded();
        zerosForUnused = builder.hasZerosForUnused();
        contributors = group.worldSize();
        ready = new ReadyGradients(layout);
        List<GradientHook.Exchange> exchanges = new ArrayList<>();
        for (Bucket bucket : layout.buckets()) {
            Allocation room = group.allocate(bucket.dataType(), bucket.elementCount());
            memory.add(room);
            GradientHook.SentBucket sent = new GradientHook.SentBucket(group, buckets.size(), room.tensor(), sharded);
            buckets.add(room.tensor());
            ownParts.add(sent.ownPart(room.tensor()));
            exchanges.add(Objects.requireNonNull(builder.hook().open(sent), "exchange of the hook"));
        }
        for (int index = 0; index < layout.parameters().size(); index++) {
            long elements = layout.parameters().get(index).elementCount();
            gradients.add(buckets.get(layout.bucketOf(index)).slice(layout.offsetOf(index), elements));
        }
        underWay = new BucketsUnderWay(exchanges, System::nanoTime);
        Bucket last = layout.buckets().get(buckets.size() - 1);
        flag = sharded || builder.hook() != GradientHook.average()
                ? BatchFlag.alone(group)
                : BatchFlag.inside(group, buckets.get(buckets.size() - 1).slice(last.usedCount(), 1));
    }

    /**
     * Begins to build buckets.
     *
     * @param group the ranks that share the work; the buckets get a group of their own of the same ranks
     * @return builder
     */
    public static GradientBucketsBuilder builder(ProcessGroup group) {
        return new GradientBucketsBuilder(Objects.requireNonNull(group, "group"));
    }

    /**
     * Says which parameter lies where.
     *
     * @return the layout, the same on all ranks; it never changes
     */
    public BucketLayout layout() {
        return layout;
    }

    /**
     * Returns the group in which the buckets travel: the ranks that they were built for, in the same order. A call of it waits for the
     * buckets before it, and must be made by all ranks in the same place.
     *
     * @return group; {@link #close} closes it
     */
    public ProcessGroup group() {
        return group;
    }

    /**
     * Says whether a rank gets the averages of its own part of each bucket only.
     *
     * @return whether they are sharded
     */
    public boolean isSharded() {
        return sharded;
    }

    /**
     * Returns a bucket.
     *
     * @param bucket its index in the layout
     * @return the whole bucket with its padding, which is zero when a step has ended; the same object at each call
     * @throws IndexOutOfBoundsException if there is no such bucket
     */
    public HostTensor bucket(int bucket) {
        return buckets.get(bucket);
    }

    /**
     * Returns this rank's part of a bucket: the n elements from {@code rank * n} on, where n is the length of the bucket divided by
     * the number of ranks. If the buckets are sharded, the other parts hold nothing of use after a step.
     *
     * @param bucket its index in the layout
     * @return a view of the bucket; the same object at each call
     * @throws IndexOutOfBoundsException if there is no such bucket
     */
    public HostTensor ownPart(int bucket) {
        return ownParts.get(bucket);
    }

    /**
     * Returns where the gradient of a parameter lies: written until it is ready, averaged from the end of the step on.
     *
     * @param parameter its index in the list of parameters
     * @return a view of its bucket, in direct memory; the same object at each call
     * @throws IndexOutOfBoundsException if there is no such parameter
     */
    public HostTensor gradient(int parameter) {
        return gradients.get(parameter);
    }

    /**
     * Copies a gradient from a framework's memory; it replaces what was there, also while gradients accumulate. Does not say that the
     * gradient is ready.
     *
     * @param parameter its index in the list of parameters
     * @param values the gradient, from position to limit, in native byte order; its position does not change
     * @throws IndexOutOfBoundsException if there is no such parameter
     * @throws IllegalArgumentException if the buffer has another length or byte order
     * @throws IllegalStateException if the gradient has been ready in this step
     */
    public void put(int parameter, ByteBuffer values) {
        Objects.requireNonNull(values, "values");
        HostTensor into = gradients.get(parameter);
        if (values.remaining() != into.byteCount() || values.order() != ByteOrder.nativeOrder()) {
            throw new IllegalArgumentException("gradient of " + named(parameter) + ": need " + into.byteCount()
                    + " bytes in order " + ByteOrder.nativeOrder() + ", found " + values.remaining() + " in order "
                    + values.order());
        }
        refuseIfReady(parameter);
        ((ByteBuffer) into.memory()).put((int) into.offset(), values, values.position(), values.remaining());
    }

    /**
     * Copies a gradient from a framework's memory, as {@link #put(int, ByteBuffer)} does.
     *
     * @param parameter its index in the list of parameters
     * @param values the gradient
     * @throws IndexOutOfBoundsException if there is no such parameter
     * @throws IllegalArgumentException if the tensor has another length or type
     * @throws IllegalStateException if the gradient has been ready in this step
     */
    public void put(int parameter, HostTensor values) {
        Objects.requireNonNull(values, "values");
        HostTensor into = gradients.get(parameter);
        if (values.elementCount() != into.elementCount() || values.dataType() != into.dataType()) {
            throw new IllegalArgumentException(
                    "gradient of " + named(parameter) + ": need " + into + ", found " + values);
        }
        refuseIfReady(parameter);
        into.copyFrom(0, values, 0, values.elementCount());
    }

    private void refuseIfReady(int parameter) {
        synchronized (lock) {
            if (flushed || ready.isReady(parameter)) {
                throw new IllegalStateException(where() + "gradient of " + named(parameter)
                        + " may be under way already: put it before it is ready");
            }
        }
    }

    /**
     * Says that the gradient of a parameter is complete. If it is the last one of the next bucket, that bucket leaves, and those
     * behind it that are complete. Does not wait for other ranks. While gradients {@linkplain #accumulate accumulate} nothing leaves.
     *
     * @param parameter its index in the list of parameters
     * @throws IndexOutOfBoundsException if there is no such parameter
     * @throws IllegalStateException if it has been ready in this step, or the step is being awaited; the step ends on all ranks
     * @throws FerroException if a bucket cannot leave, since the group has failed
     */
    public void ready(int parameter) {
        Objects.checkIndex(parameter, gradients.size());
        synchronized (lock) {
            if (accumulating) {
                ready.accumulate(parameter);
                return;
            }
            if (ready.isReady(parameter)) {
                throw broken(
                        "the gradient of " + named(parameter)
                                + " is ready a second time: say so once per step, and accumulate(true) in passes before the last one");
            }
            if (flushed) {
                throw broken("the gradient of " + named(parameter) + " is ready after "
                        + (hasData ? "the step was awaited" : "this rank has run out of batches"));
            }
            ready.add(parameter);
            while (underWay.next() < buckets.size() && ready.isComplete(underWay.next())) {
                startNext();
            }
        }
    }

    /**
     * Says whether the passes from now on only accumulate: {@code true} before the first of several passes of a step, {@code false}
     * before the last one. In passes that accumulate nothing is sent, {@link #ready} may be called for a gradient once or not at
     * all, and {@link #finish} does nothing; whoever computes gradients adds them to those that are there.
     *
     * @param on whether gradients accumulate
     * @throws IllegalStateException if gradients of this pass are ready already
     */
    public void accumulate(boolean on) {
        synchronized (lock) {
            if (on != accumulating && (flushed || ready.hasAny())) {
                throw new IllegalStateException(where() + "accumulate(" + on + ") in the middle of a pass: "
                        + ready.readyCount() + " of " + gradients.size() + " gradients are ready already");
            }
            accumulating = on;
        }
    }

    /**
     * Waits until the averages of a bucket, and of those before it, are there. The first call in a step says that no more gradients
     * will be ready, as {@link #finish} does; an optimizer can begin with the first bucket while later ones travel, and then ends the
     * step by {@link #finish}.
     *
     * @param bucket its index in the layout
     * @throws IndexOutOfBoundsException if there is no such bucket
     * @throws IllegalStateException if gradients accumulate, or as {@link #finish}
     * @throws FerroException if the group fails or has failed
     */
    public void await(int bucket) {
        Objects.checkIndex(bucket, buckets.size());
        synchronized (lock) {
            if (accumulating) {
                throw new IllegalStateException(where() + "bucket " + bucket + " of " + buckets.size()
                        + " is awaited while gradients accumulate: accumulate(false) before the last pass");
            }
            flush();
        }
        while (!underWay.hasEnded(bucket)) {
            endNext();
        }
    }

    /**
     * Ends a step: waits until all buckets have their averages. Gradients that were not ready in this step are unused: an error, or
     * zeros if the buckets were built with {@link GradientBucketsBuilder#zerosForUnused}. Does nothing while gradients
     * {@linkplain #accumulate accumulate}.
     *
     * @return how long it waited, and how long communication was hidden
     * @throws IllegalStateException if gradients were never ready, with their names; the step ends on all ranks
     * @throws FerroException if the group fails or has failed
     */
    public StepTimes finish() {
        synchronized (lock) {
            if (accumulating) {
                return StepTimes.NONE;
            }
        }
        await(buckets.size() - 1);
        synchronized (lock) {
            ready.reset();
            flushed = false;
            step++;
            return underWay.end();
        }
    }

    /** Starts what has not left, since no more gradients will be ready. */
    private void flush() {
        if (flushed) {
            return;
        }
        if (hasData) {
            settleUnused();
        }
        flushed = true;
        while (underWay.next() < buckets.size()) {
            startNext();
        }
    }

    private void settleUnused() {
        for (int parameter = 0; parameter < gradients.size(); parameter++) {
            if (!ready.isUnused(parameter)) {
                continue;
            }
            if (!zerosForUnused) {
                throw unused(ready.unused());
            }
            clear(gradients.get(parameter));
        }
    }

    private IllegalStateException unused(List<Parameter> unused) {
        String names = unused.stream()
                .limit(NAMES_LISTED)
                .map(parameter -> "\"" + parameter.name() + "\"")
                .collect(Collectors.joining(", "));
        return broken(unused.size() + " of " + gradients.size() + " gradients were never ready: " + names
                + (unused.size() > NAMES_LISTED ? " and " + (unused.size() - NAMES_LISTED) + " more" : "")
                + "; if a step need not use all parameters, build with zerosForUnused()");
    }

    private void clear(HostTensor tensor) {
        ByteBuffer bytes = (ByteBuffer) tensor.memory();
        int from = (int) tensor.offset();
        int count = (int) tensor.byteCount();
        for (int at = 0; at < count; at += ZERO_BYTES) {
            bytes.put(from + at, zeros, 0, Math.min(ZERO_BYTES, count - at));
        }
    }

    private void startNext() {
        try {
            underWay.startNext(contributors);
            if (join != null && underWay.next() == buckets.size()) {
                flag.start();
            }
        } catch (RuntimeException | Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    private void endNext() {
        try {
            underWay.endNext(contributors);
            if (join != null && underWay.hasEnded(buckets.size() - 1)) {
                withAnotherBatch = flag.count(contributors);
            }
        } catch (FerroException failure) {
            throw join == null ? failure : join.causeOf(failure);
        } catch (RuntimeException | Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    /** Ends the step on all ranks by an exception that says what is wrong on this one. */
    private IllegalStateException broken(String what) {
        IllegalStateException failure = new IllegalStateException(where() + what);
        group.abort(failure);
        return failure;
    }

    private String where() {
        return "gradient buckets, rank " + group.rank() + " of " + group.worldSize() + ", step " + step + ": ";
    }

    private String named(int parameter) {
        return "\"" + layout.parameters().get(parameter).name() + "\"";
    }

    /** Returns whether all ranks share the memory of all buckets. */
    boolean isMemoryShared() {
        return memory.stream().allMatch(Allocation::isShared);
    }

    /** Returns the group that the buckets were built in. */
    ProcessGroup parent() {
        return parent;
    }

    /**
     * Says which step has not ended yet. Any thread may call it.
     *
     * @return its number, from 1 on; {@link #finish} counts
     */
    public long stepNumber() {
        synchronized (lock) {
            return step;
        }
    }

    /**
     * Begins a step of a join. On a rank without data all buckets leave at once, full of zeros.
     *
     * @param by begins it
     * @param withData number of ranks that have data in this step
     * @param hasBatch whether this rank has
     * @param hasAnother whether it will have in the next one
     */
    void begin(Join<?> by, int withData, boolean hasBatch, boolean hasAnother) {
        synchronized (lock) {
            join = by;
            contributors = withData;
            hasData = hasBatch;
            if (!hasBatch) {
                accumulating = false;
                buckets.forEach(this::clear);
            }
            flag.set(hasAnother);
            if (!hasBatch) {
                flush();
            }
        }
    }

    /** Returns how many ranks have data in the next step, as the last step of a join has told. */
    int withAnotherBatch() {
        return withAnotherBatch;
    }

    /** Ends the use by a join: all ranks have data again. */
    void leave(Join<?> by) {
        synchronized (lock) {
            if (join == by) {
                join = null;
                contributors = group.worldSize();
                hasData = true;
            }
        }
    }

    /**
     * Closes the group of the buckets within 5 s, and gives back what their memory counts for. In the middle of a step, as where an
     * exception leaves it, this ends the step on all ranks. Idempotent.
     */
    @Override
    public void close() {
        synchronized (lock) {
            if (flushed || ready.hasAny()) {
                broken("buckets are closed before the step has ended, with " + ready.readyCount() + " of "
                        + gradients.size() + " gradients ready");
            }
        }
        memory.forEach(Allocation::close);
        group.close();
    }
}
