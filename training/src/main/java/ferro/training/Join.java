package ferro.training;

import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Training steps of ranks that have different numbers of batches, until the last rank has run out of batches.
 *
 * {@snippet file="ferro/examples/snippets/TrainingSnippetsTest.java" region="join" :
 *
 * Join<float[]> join = Join.over(buckets, batches);
 * while (join.next()) {
 *     join.withBatch(batch -> model.backward(batch, buckets)); // on ranks that have one
 *     buckets.finish();
 *     model.update(buckets); // on every rank
 * }
 * }
 *
 * <p>Gradients are averaged over the ranks that have data in a step, and rounded as if no other ranks existed. A rank
 * that has run out of batches takes part in every step with gradients of zeros, and applies every update. All replicas
 * therefore stay equal, and the part of a sharded optimizer on a rank without batches stays current. In every step at
 * least one rank has data. With the last bucket of a step, each rank sends whether it has another batch. All ranks
 * therefore have the number of ranks with data in the next step before that step begins.
 *
 * <p>Ranks that have run out of batches do not run the code inside {@link #withBatch}. If the code inside
 * {@link #withBatch} calls collectives, such as statistics over all ranks, register matching calls with
 * {@link #shadow}. Ranks without batches make the registered calls. Without registered calls, a call of the group in
 * which the buckets were built makes that group fail with MISMATCH. The message names the ranks that have run out of
 * batches. Outside of {@link #withBatch}, and everywhere while every rank has data, all ranks may make the same
 * collective calls.
 *
 * <p>Only one thread of a rank may use a join. The join is over when {@link #next} has returned false. A loop that ends
 * earlier must end on all ranks in the same step, and must close the join.
 *
 * @param <B> type of a batch
 */
public final class Join<B> implements AutoCloseable {
    /**
     * Maximum time to wait for a failure of the parent group after a failure of the buckets. The failure of the parent
     * group has the cause of the failure of the buckets, and may arrive later.
     */
    private static final Duration CAUSE_WITHIN = Duration.ofMillis(500);
    /** A combiner that combines nothing, because ranks compare only the name of the call. */
    private static final ReduceOp.Combiner NOTHING = (into, received) -> {};

    private final GradientBuckets buckets;
    private final ProcessGroup parent;
    private final Iterator<? extends B> batches;
    private final List<Runnable> shadows = new ArrayList<>();
    private final HostTensor nothing = HostTensor.allocate(DataType.INT8, 1);
    private boolean failOnUneven;
    private boolean begun;
    private boolean over;
    private int contributors;
    private List<Integer> out = List.of();
    private B batch;
    private boolean hasBatch;
    private boolean computed;
    private long step;
    private ReduceOp outOp;
    /**
     * Call of the parent group that all ranks make at the end of {@link #withBatch} while some ranks have run out of
     * batches. The call fails with MISMATCH if a rank has made another call that is not registered. The field is null
     * if the call is not in flight.
     */
    private Work noOtherCall;

    private Join(GradientBuckets buckets, Iterator<? extends B> batches) {
        this.buckets = buckets;
        this.batches = batches;
        parent = buckets.parent();
    }

    /**
     * Creates a join, without communication.
     *
     * @param buckets gradients of the steps; {@link GradientBuckets#finish} must end each step
     * @param batches any number of batches of this rank; the join asks for the next batch one step ahead
     * @param <B> type of a batch
     * @return join
     */
    public static <B> Join<B> over(GradientBuckets buckets, Iterator<? extends B> batches) {
        return new Join<>(Objects.requireNonNull(buckets, "buckets"), Objects.requireNonNull(batches, "batches"));
    }

    /**
     * Registers calls that this rank makes in {@link #withBatch} after it has run out of batches. The registered calls
     * match the calls that other ranks make with a batch. Several registered actions run in the order of registration,
     * which must be the order of the calls of the other ranks.
     *
     * @param calls action that makes the same collective calls as one step with a batch, with data that changes no
     *     result
     * @return this
     */
    public Join<B> shadow(Runnable calls) {
        shadows.add(Objects.requireNonNull(calls, "calls"));
        return this;
    }

    /**
     * Forbids different numbers of batches. With this setting, {@link #next} throws an exception on all ranks before
     * the first step in which a rank has no batch.
     *
     * @return this
     */
    public Join<B> failOnUneven() {
        failOnUneven = true;
        return this;
    }

    /**
     * Begins the next step, if any rank has a batch for the step. All ranks must call this method. The first call
     * gathers which ranks have a batch. A later call gathers this information only if fewer ranks have a batch than in
     * the previous step.
     *
     * @return whether a step has begun; the same on all ranks
     * @throws IllegalStateException if the last step is not finished, or if {@link #withBatch} was not called in the
     *     last step. If {@link #failOnUneven} was called and some ranks have run out of batches, all ranks throw this
     *     exception
     * @throws FerroException if the group of the buckets or the group in which they were built fails or has failed
     */
    public boolean next() {
        if (over) {
            return false;
        }
        endingOnAllRanks(this::prepare);
        if (contributors == 0) {
            close();
            return false;
        }
        if (failOnUneven && !out.isEmpty()) {
            close();
            throw new IllegalStateException(
                    where() + whoIsOut() + ", but failOnUneven() requires equally many on all ranks: drop or"
                            + " repeat batches, or remove failOnUneven() to average over the ranks that have a batch");
        }
        endingOnAllRanks(this::begin); // the iterator of batches may throw an exception, too
        return true;
    }

    private void endingOnAllRanks(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error failure) {
            buckets.group().abort(failure);
            throw failure;
        }
    }

    /** Ends the last step and finds the ranks that have a batch for the next step. */
    private void prepare() {
        if (begun) {
            endStep();
        }
        hasBatch = batches.hasNext();
        boolean asBefore = begun && buckets.withAnotherBatch() == contributors;
        begun = true;
        if (!asBefore) {
            gather();
        }
    }

    private void endStep() {
        if (!computed || buckets.stepNumber() == step) {
            throw new IllegalStateException(where() + "next() was called before this step has ended: call "
                    + (computed ? "finish() of the buckets" : "withBatch") + " in every step");
        }
        if (noOtherCall != null) {
            noOtherCall.await();
            noOtherCall = null;
        }
    }

    /**
     * Gathers which ranks have a batch. This is not necessary after the last step, when the flag has shown that no rank
     * has one.
     */
    private void gather() {
        if (step > 0 && buckets.withAnotherBatch() == 0) {
            contributors = 0;
            return;
        }
        byte[] all = new byte[parent.worldSize()];
        buckets.group().allGather(new byte[] {(byte) (hasBatch ? 1 : 0)}, all);
        out = IntStream.range(0, all.length)
                .filter(rank -> all[rank] == 0)
                .boxed()
                .toList();
        contributors = all.length - out.size();
        outOp = ReduceOp.of(whoIsOut() + " (Join.shadow)", NOTHING);
    }

    private void begin() {
        batch = hasBatch ? batches.next() : null;
        boolean hasAnother = hasBatch && batches.hasNext();
        computed = false;
        step = buckets.stepNumber();
        buckets.begin(this, contributors, hasBatch, hasAnother);
    }

    /**
     * Computes the gradients of a step. Passes this rank's batch to {@code compute}, or runs the calls of
     * {@link #shadow} if this rank has run out of batches. If this method throws an exception, the step fails on all
     * ranks.
     *
     * @param compute code that computes the gradients of a batch and marks the gradients as ready; it is not called on
     *     a rank that has run out of batches
     * @throws IllegalStateException if no step has begun, or if this method was already called in this step
     * @throws FerroException MISMATCH if some ranks have run out of batches and {@code compute} has made a call of the
     *     group that is not registered; another code if the group fails or has failed
     */
    public void withBatch(Consumer<? super B> compute) {
        Objects.requireNonNull(compute, "compute");
        if (over || !begun || computed) {
            throw new IllegalStateException(
                    where() + (computed ? "withBatch was already called" : "the step has not begun")
                            + ": call next() before withBatch");
        }
        computed = true;
        try {
            if (hasBatch) {
                compute.accept(batch);
            } else {
                shadows.forEach(Runnable::run);
            }
            if (!out.isEmpty()) {
                noOtherCall = parent.allReduceAsync(nothing, outOp);
            }
        } catch (RuntimeException | Error failure) {
            buckets.group().abort(failure);
            throw failure;
        } finally {
            batch = null;
        }
    }

    /** {@return whether this rank has a batch in this step; false if this rank has run out of batches} */
    public boolean hasBatch() {
        return hasBatch;
    }

    /** {@return the number of ranks with a batch, over which gradients of this step are averaged; 0 after the join} */
    public int contributors() {
        return contributors;
    }

    /** Returns the parent group's failure if it has aborted the buckets' group, else returns {@code failure}. */
    FerroException causeOf(FerroException failure) {
        if (noOtherCall == null || failure.code() != FerroException.Code.ABORTED) {
            return failure;
        }
        try {
            noOtherCall.await(CAUSE_WITHIN);
            return failure;
        } catch (FerroException cause) {
            cause.addSuppressed(failure);
            return cause;
        }
    }

    private String whoIsOut() {
        String ranks = out.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return out.size() == 1
                ? "rank " + ranks + " has run out of batches"
                : "ranks " + ranks + " have run out of batches";
    }

    private String where() {
        return "join, rank " + parent.rank() + " of " + parent.worldSize() + ", step " + buckets.stepNumber() + ": ";
    }

    /** Ends the join, so that all ranks have data in later steps of the buckets. Does not communicate; idempotent. */
    @Override
    public void close() {
        if (!over) {
            over = true;
            hasBatch = false;
            contributors = 0;
            buckets.leave(this);
        }
    }
}
