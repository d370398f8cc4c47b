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
 * Steps of ranks that have different numbers of batches, until the last rank has run out.
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
 * <p>Gradients are averaged over the ranks that have data in a step, and rounded as if there were no others. A rank that has run out
 * takes part in every step with gradients of zeros and applies every update, so that all replicas stay equal and its part of a
 * sharded optimizer lives on. There is no step in which no rank has data: with each step, in its last bucket, a rank tells the others
 * whether it has another batch, so that all know the number of the next step before its first bucket leaves.
 *
 * <p>Calls of a group that are made with a batch, inside {@link #withBatch}, lack the ranks that have run out. What makes such calls,
 * like statistics over all ranks, registers what these ranks call in its place ({@link #shadow}). Any other call of the group that the
 * buckets were built in fails that group with MISMATCH, whose text says which ranks have run out; as long as every rank has data, and
 * outside of {@link #withBatch}, all ranks may make the same calls.
 *
 * <p>One thread of a rank uses a join. It is over when {@link #next} has returned false; a loop that ends earlier, on all ranks in the
 * same step, closes it.
 *
 * @param <B> what a rank computes the gradients of a step of
 */
public final class Join<B> implements AutoCloseable {
    /** How long a failure of the buckets is held back for that of the group, which has the cause and may come later. */
    private static final Duration CAUSE_WITHIN = Duration.ofMillis(500);
    /** Nothing is combined: what matters of the call is its name, which ranks compare. */
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
    /** The call of ranks that have no other call to make in this step, while some have run out. */
    private Work noOtherCall;

    private Join(GradientBuckets buckets, Iterator<? extends B> batches) {
        this.buckets = buckets;
        this.batches = batches;
        parent = buckets.parent();
    }

    /**
     * Begins a join; no rank talks yet.
     *
     * @param buckets gradients of the steps; they end each step by {@link GradientBuckets#finish}
     * @param batches this rank's batches, any number; asked once ahead, for whether there is another
     * @param <B> batch
     * @return join
     */
    public static <B> Join<B> over(GradientBuckets buckets, Iterator<? extends B> batches) {
        return new Join<>(Objects.requireNonNull(buckets, "buckets"), Objects.requireNonNull(batches, "batches"));
    }

    /**
     * Registers the calls that a rank that has run out makes in place of those that others make with a batch. Where several are
     * registered, they run in that order, which is the order in which the others call.
     *
     * @param calls makes the same collective calls as one step with a batch, with data that changes no result
     * @return this
     */
    public Join<B> shadow(Runnable calls) {
        shadows.add(Objects.requireNonNull(calls, "calls"));
        return this;
    }

    /**
     * Makes it an error that ranks have different numbers of batches: {@link #next} then throws on all ranks in place of the first
     * step that some have no batch for.
     *
     * @return this
     */
    public Join<B> failOnUneven() {
        failOnUneven = true;
        return this;
    }

    /**
     * Begins the next step, if any rank has a batch for it. All ranks call it; the first call gathers who has a batch, and so does one
     * in whose step fewer ranks have.
     *
     * @return whether there is a step; the same on all ranks
     * @throws IllegalStateException if the last step is not finished, or had no {@link #withBatch}; on all ranks if some have run out
     *     and {@link #failOnUneven} was called
     * @throws FerroException if the group of the buckets, or that in which they were built, fails or has failed
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
                    where() + whoIsOut() + ", and failOnUneven() asks for as many on all ranks: drop or"
                            + " repeat batches, or leave it out to average over the ranks that have some");
        }
        endingOnAllRanks(this::begin); // a source of batches may throw, too
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

    /** Ends the last step and finds out who has a batch for the next one. */
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
            throw new IllegalStateException(where() + "the next step begins before this one has ended: call "
                    + (computed ? "finish() of the buckets" : "withBatch") + " in every step");
        }
        if (noOtherCall != null) {
            noOtherCall.await();
            noOtherCall = null;
        }
    }

    /** Gathers who has a batch; behind the last step nobody does, and all know it. */
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
     * Computes the gradients of a step: passes this rank's batch on, or makes the calls that are registered for ranks that have run
     * out. An exception of either ends the step on all ranks.
     *
     * @param compute computes the gradients of a batch and says that they are ready; is not called on a rank that has run out
     * @throws IllegalStateException if there is no step, or its batch was passed on already
     * @throws FerroException MISMATCH if some ranks have run out, and {@code compute} has made a call of the group that is not
     *     registered; another code if the group fails or has failed
     */
    public void withBatch(Consumer<? super B> compute) {
        Objects.requireNonNull(compute, "compute");
        if (over || !begun || computed) {
            throw new IllegalStateException(where() + (computed ? "its batch was passed on already" : "there is none")
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

    /**
     * Says whether this rank has a batch in this step.
     *
     * @return false if it has run out
     */
    public boolean hasBatch() {
        return hasBatch;
    }

    /**
     * Says over how many ranks the gradients of this step are averaged.
     *
     * @return number of ranks that have a batch; 0 when the join is over
     */
    public int contributors() {
        return contributors;
    }

    /** Returns what made the group of the buckets fail, if it is a failure of the group that they were built in. */
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

    /** Ends the join, so that the next steps of the buckets are steps of all ranks. Talks to nobody; idempotent. */
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
