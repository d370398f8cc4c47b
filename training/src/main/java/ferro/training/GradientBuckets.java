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
 * The gradients of a model, averaged over all ranks. Gradients that are ready are sent while other gradients are still
 * computed.
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
 * <p>Gradients are in buckets ({@link BucketLayout}). A bucket is sent when its last gradient is ready and all buckets
 * before it have been sent. All ranks therefore send the buckets in the same order, even if they call {@link #ready} in
 * different orders. {@link #finish} waits for the buckets that are still in flight. After {@link #finish}, all
 * gradients are averages.
 *
 * <p>A framework either computes into {@link #gradient}, or keeps gradients in its own memory and copies them with
 * {@link #put}. If the ranks share memory, the buckets are in shared memory. The buckets have a separate group, so that
 * no other call waits behind a bucket.
 *
 * <p>Several threads may call {@link #ready} and {@link #put} at the same time, for different parameters.
 * {@link #accumulate}, {@link #await} and {@link #finish} are called by one thread at a time, after all gradients of
 * the pass are ready.
 *
 * <p>If a step fails on one rank, the step fails on all ranks. Examples are a gradient that is ready twice, a gradient
 * that is never ready, and a hook that throws. An exception on one rank aborts the group of the buckets. The other
 * ranks get the text of the exception in the call in which they wait. The group in which the buckets were built stays
 * usable. A passed deadline or a lost rank makes a step fail, as in any collective.
 *
 * <p>After the first steps, a step creates no garbage except its result and the garbage of the group's calls.
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
    private final PendingBuckets inFlight;
    private final BatchRankCounter batchRanks;
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(ZERO_BYTES);
    private boolean accumulating;
    private boolean flushed;
    private long step = 1;
    /** Number of ranks that have data in this step. */
    private int contributors;

    /** The join that has begun this step; null without a join. */
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
            Allocation allocated = group.allocate(bucket.dataType(), bucket.elementCount());
            memory.add(allocated);
            GradientHook.SentBucket sent =
                    new GradientHook.SentBucket(group, buckets.size(), allocated.tensor(), sharded);
            buckets.add(allocated.tensor());
            ownParts.add(sent.ownPart(allocated.tensor()));
            exchanges.add(Objects.requireNonNull(builder.hook().open(sent), "exchange of the hook"));
        }
        for (int index = 0; index < layout.parameters().size(); index++) {
            long elements = layout.parameters().get(index).elementCount();
            gradients.add(buckets.get(layout.bucketOf(index)).slice(layout.offsetOf(index), elements));
        }
        inFlight = new PendingBuckets(exchanges, System::nanoTime);
        Bucket last = layout.buckets().get(buckets.size() - 1);
        batchRanks = sharded || builder.hook() != GradientHook.average()
                ? BatchRankCounter.alone(group)
                : BatchRankCounter.inside(group, buckets.get(buckets.size() - 1).slice(last.usedCount(), 1));
    }

    /**
     * {@return a builder for buckets}
     *
     * @param group the ranks that share the work; the buckets get a separate group of these ranks
     */
    public static GradientBucketsBuilder builder(ProcessGroup group) {
        return new GradientBucketsBuilder(Objects.requireNonNull(group, "group"));
    }

    /** {@return the layout, which maps parameters to buckets; the layout never changes and is the same on all ranks} */
    public BucketLayout layout() {
        return layout;
    }

    /**
     * {@return the group in which the buckets travel; {@link #close} closes this group. The group has the ranks of the
     * group for which the buckets were built, in the same order. A call of the buckets' group waits for the buckets
     * that were sent before the call. All ranks must make a call of the buckets' group at the same position among the
     * buckets}
     */
    public ProcessGroup group() {
        return group;
    }

    /** {@return whether the buckets are sharded; a rank then gets only the averages of its own part of each bucket} */
    public boolean isSharded() {
        return sharded;
    }

    /**
     * Returns a bucket.
     *
     * @param bucket index in the layout
     * @return the whole bucket with its padding, which is zero after a step; the same object at each call
     * @throws IndexOutOfBoundsException if no bucket has this index
     */
    public HostTensor bucket(int bucket) {
        return buckets.get(bucket);
    }

    /**
     * Returns this rank's part of a bucket. The part has n elements beginning at {@code rank * n}, where n is the
     * length of the bucket divided by the number of ranks. If the buckets are sharded, the contents of the other parts
     * are undefined after a step.
     *
     * @param bucket index in the layout
     * @return view of the bucket; the same object at each call
     * @throws IndexOutOfBoundsException if no bucket has this index
     */
    public HostTensor ownPart(int bucket) {
        return ownParts.get(bucket);
    }

    /**
     * Returns the memory of a parameter's gradient. Write the gradient to this memory before you call {@link #ready}.
     * From the end of the step on, the memory holds the average.
     *
     * @param parameter index in the list of parameters
     * @return view of the parameter's bucket, in direct memory; the same object at each call
     * @throws IndexOutOfBoundsException if no parameter has this index
     */
    public HostTensor gradient(int parameter) {
        return gradients.get(parameter);
    }

    /**
     * Copies a gradient from a framework's memory. The copy replaces the previous values, even while gradients
     * accumulate. The gradient is not ready until {@link #ready} is called.
     *
     * @param parameter index in the list of parameters
     * @param values the gradient, from position to limit, in native byte order; the position does not change
     * @throws IndexOutOfBoundsException if no parameter has this index
     * @throws IllegalArgumentException if the buffer has another length or byte order
     * @throws IllegalStateException if the gradient is already ready in this step
     */
    public void put(int parameter, ByteBuffer values) {
        Objects.requireNonNull(values, "values");
        HostTensor into = gradients.get(parameter);
        if (values.remaining() != into.byteCount() || values.order() != ByteOrder.nativeOrder()) {
            throw new IllegalArgumentException("gradient of " + named(parameter) + ": need " + into.byteCount()
                    + " bytes in byte order " + ByteOrder.nativeOrder() + ", found " + values.remaining()
                    + " in byte order "
                    + values.order());
        }
        refuseIfReady(parameter);
        ((ByteBuffer) into.memory()).put((int) into.offset(), values, values.position(), values.remaining());
    }

    /**
     * Copies a gradient from a framework's memory, as {@link #put(int, ByteBuffer)} does.
     *
     * @param parameter index in the list of parameters
     * @param values the gradient
     * @throws IndexOutOfBoundsException if no parameter has this index
     * @throws IllegalArgumentException if the tensor has another length or type
     * @throws IllegalStateException if the gradient is already ready in this step
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
                        + " may already be in flight: call put() before ready()");
            }
        }
    }

    /**
     * Marks the gradient of a parameter as ready. If this gradient completes the next bucket in order, sends the
     * completed bucket and all complete buckets that follow it directly. Never waits for other ranks. Sends nothing in
     * a pass that accumulates.
     *
     * @param parameter index in the list of parameters
     * @throws IndexOutOfBoundsException if no parameter has this index
     * @throws IllegalStateException if the gradient is already ready in this step, or if {@link #await} or
     *     {@link #finish} has been called; the step fails on all ranks
     * @throws FerroException if a bucket cannot be sent because the group has failed
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
                                + " is ready a second time: call ready() once per step, or accumulate(true) before all passes but the last");
            }
            if (flushed) {
                throw broken("the gradient of " + named(parameter) + " is ready after "
                        + (hasData ? "await() or finish() was called" : "this rank has run out of batches"));
            }
            ready.add(parameter);
            while (inFlight.next() < buckets.size() && ready.isComplete(inFlight.next())) {
                startNext();
            }
        }
    }

    /**
     * Sets whether the following passes only accumulate gradients. Call this method with {@code true} before the first
     * of several passes of a step, and with {@code false} before the last pass. An accumulating pass sends nothing. In
     * an accumulating pass, {@link #ready} is optional for each gradient, and {@link #finish} does nothing. The code
     * that computes gradients in several passes must add the gradients to the present values.
     *
     * @param on whether gradients accumulate
     * @throws IllegalStateException if gradients of this pass are already ready
     */
    public void accumulate(boolean on) {
        synchronized (lock) {
            if (on != accumulating && (flushed || ready.hasAny())) {
                throw new IllegalStateException(where() + "accumulate(" + on + ") in the middle of a pass: "
                        + ready.readyCount() + " of " + gradients.size() + " gradients are already ready");
            }
            accumulating = on;
        }
    }

    /**
     * Waits until a bucket, and all buckets before it, have their averages. After the first call of this method in a
     * step, no gradient may become ready, as after {@link #finish}. An optimizer can thus use the first bucket while
     * later buckets are in flight. The optimizer must then end the step with {@link #finish}.
     *
     * @param bucket index in the layout
     * @throws IndexOutOfBoundsException if no bucket has this index
     * @throws IllegalStateException if gradients accumulate, or for the reasons of {@link #finish}
     * @throws FerroException if the group fails or has failed
     */
    public void await(int bucket) {
        Objects.checkIndex(bucket, buckets.size());
        synchronized (lock) {
            if (accumulating) {
                throw new IllegalStateException(where() + "bucket " + bucket + " of " + buckets.size()
                        + " is awaited while gradients accumulate: call accumulate(false) before the last pass");
            }
            flush();
        }
        while (!inFlight.hasEnded(bucket)) {
            endNext();
        }
    }

    /**
     * Ends a step. Waits until all buckets have their averages. Gradients that were not ready in this step are unused.
     * Unused gradients are an error, or zeros with {@link GradientBucketsBuilder#zerosForUnused}. This method does
     * nothing while gradients {@linkplain #accumulate accumulate}.
     *
     * @return time in which the step waited, and time in which communication was hidden
     * @throws IllegalStateException if gradients were never ready; the message names these gradients, and the step
     *     fails on all ranks
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
            return inFlight.end();
        }
    }

    /** Sends the remaining buckets, because no more gradients will be ready. */
    private void flush() {
        if (flushed) {
            return;
        }
        if (hasData) {
            completeUnused();
        }
        flushed = true;
        while (inFlight.next() < buckets.size()) {
            startNext();
        }
    }

    private void completeUnused() {
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
                + "; if a step may leave parameters unused, build with zerosForUnused()");
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
            inFlight.startNext(contributors);
            if (join != null && inFlight.next() == buckets.size()) {
                batchRanks.start();
            }
        } catch (RuntimeException | Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    private void endNext() {
        try {
            inFlight.endNext(contributors);
            if (join != null && inFlight.hasEnded(buckets.size() - 1)) {
                withAnotherBatch = batchRanks.count(contributors);
            }
        } catch (FerroException failure) {
            throw join == null ? failure : join.causeOf(failure);
        } catch (RuntimeException | Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    /** Fails the step on all ranks with an exception that describes the error on this rank. */
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

    /** Returns the group in which the buckets were built. */
    ProcessGroup parent() {
        return parent;
    }

    /**
     * {@return the current step, from 1; each {@link #finish} that ends a step adds 1} Any thread may call this method.
     */
    public long stepNumber() {
        synchronized (lock) {
            return step;
        }
    }

    /**
     * Begins a step of a join. On a rank without data, all buckets are filled with zeros and sent at once.
     *
     * @param by the join
     * @param withData number of ranks that have data in this step
     * @param hasBatch whether this rank has data in this step
     * @param hasAnother whether this rank has data in the next step
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
            batchRanks.set(hasAnother);
            if (!hasBatch) {
                flush();
            }
        }
    }

    /** Returns the number of ranks with data in the next step, as received in the last step of a join. */
    int withAnotherBatch() {
        return withAnotherBatch;
    }

    /** Ends a join of ranks with uneven data that uses these buckets. After this call, all ranks have data again. */
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
     * Closes the group of the buckets within 5 s. The buckets no longer count against {@code ferro.shm.bytes}. A close
     * in the middle of a step, for example after an exception, fails the step on all ranks. This method is idempotent.
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
