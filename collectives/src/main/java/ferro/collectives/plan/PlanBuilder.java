package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * A builder that collects the steps of a plan in the order in which a single-threaded program would do them. The
 * builder computes the minimum number of earlier steps that each step must wait for. Not thread-safe.
 *
 * <p>A send waits for the last step that wrote one of its chunks. A step that writes waits for the last send and the
 * last local step that read one of its chunks, and for the last step that wrote one of them. So the order of combines
 * is the same in every run, and so is every bit of the result.
 */
public final class PlanBuilder {
    private final String algorithm;
    private final int chunkCount;
    private Extent in = Extent.NONE;
    private Extent out = Extent.NONE;
    private Extent scratch = Extent.NONE;
    private final List<Step.Send> sends = new ArrayList<>();
    private final List<Step.Arrival> receives = new ArrayList<>();
    /** The last send of each chunk. */
    private final LastSteps sent;
    /** The last entry of the receive list that wrote each chunk. */
    private final LastSteps written;
    /** The last local step that read each chunk. */
    private final LastSteps readLocally;

    /**
     * Begins a plan.
     *
     * @param algorithm  name of the algorithm
     * @param chunkCount number of parts into which the elements of the operation are divided
     */
    public PlanBuilder(String algorithm, int chunkCount) {
        this.algorithm = algorithm;
        this.chunkCount = chunkCount;
        this.sent = new LastSteps(chunkCount);
        this.written = new LastSteps(chunkCount);
        this.readLocally = new LastSteps(chunkCount);
    }

    /**
     * Sets the chunks of the caller's operand.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder in(Extent extent) {
        in = extent;
        return this;
    }

    /**
     * Sets the chunks of the caller's result.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder out(Extent extent) {
        out = extent;
        return this;
    }

    /**
     * Sets the chunks of scratch memory that the plan needs.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder scratch(Extent extent) {
        scratch = extent;
        return this;
    }

    /**
     * Adds a step that sends chunks.
     *
     * @param peer   rank that receives
     * @param region region that is read
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder send(int peer, Region region, int chunk, int chunks) {
        sends.add(new StepRecords.SendStep(peer, region, chunk, chunks, 0, written.latest(region, chunk, chunks)));
        sent.set(region, chunk, chunks, sends.size());
        return this;
    }

    /**
     * Adds a step that receives chunks.
     *
     * @param peer   rank that sends
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder receive(int peer, Region region, int chunk, int chunks) {
        return add(new StepRecords.ReceiveStep(
                peer, region, chunk, chunks, sent.latest(region, chunk, chunks), touched(region, chunk, chunks)));
    }

    /**
     * Adds a step that receives chunks and combines them into the chunks of a region.
     *
     * @param peer   rank that sends
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder receiveCombine(int peer, Region region, int chunk, int chunks) {
        return receiveCombine(peer, region, chunk, chunks, false);
    }

    /**
     * Adds a step that receives chunks and combines them into the chunks of a region. The received chunks come first,
     * for an op that is not commutative.
     *
     * @param peer   rank that sends
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder receiveCombineFirst(int peer, Region region, int chunk, int chunks) {
        return receiveCombine(peer, region, chunk, chunks, true);
    }

    private PlanBuilder receiveCombine(int peer, Region region, int chunk, int chunks, boolean readsFirst) {
        int afterSends = sent.latest(region, chunk, chunks);
        int touched = touched(region, chunk, chunks);
        return add(new StepRecords.ReceiveCombineStep(
                peer, region, chunk, chunks, afterSends, touched, false, readsFirst));
    }

    /**
     * Adds a step that copies chunks between regions of this rank.
     *
     * @param from   region that is read
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder copy(Region from, Region region, int chunk, int chunks) {
        int touched = Math.max(written.latest(from, chunk, chunks), touched(region, chunk, chunks));
        return add(new StepRecords.LocalCopyStep(
                from, region, chunk, chunks, sent.latest(region, chunk, chunks), touched));
    }

    /**
     * Adds a step that combines chunks of one region of this rank into the chunks of another region.
     *
     * @param from   region that is read
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder combine(Region from, Region region, int chunk, int chunks) {
        return combine(from, region, chunk, chunks, false);
    }

    /**
     * Adds a step that combines chunks of one region of this rank into the chunks of another region. The chunks that
     * are read come first, for an op that is not commutative.
     *
     * @param from   region that is read
     * @param region region that is written
     * @param chunk  first chunk
     * @param chunks number of chunks
     * @return this
     */
    public PlanBuilder combineFirst(Region from, Region region, int chunk, int chunks) {
        return combine(from, region, chunk, chunks, true);
    }

    private PlanBuilder combine(Region from, Region region, int chunk, int chunks, boolean readsFirst) {
        int afterSends = sent.latest(region, chunk, chunks);
        int touched = Math.max(written.latest(from, chunk, chunks), touched(region, chunk, chunks));
        return add(
                new StepRecords.LocalCombineStep(from, region, chunk, chunks, afterSends, touched, false, readsFirst));
    }

    /**
     * Ends the plan. A combine into chunks of OUT that no later step writes completes these chunks: OUT then has their
     * result.
     *
     * @return plan
     * @throws IllegalStateException if a combine completes some of its chunks, but not all
     */
    public Plan build() {
        markCompleting();
        return buildScan();
    }

    /**
     * Ends the plan of a scan, in which no combine completes its chunks: no rank but the last one has the operands of
     * all ranks, and a rank may send on what it has combined.
     *
     * @return plan
     */
    public Plan buildScan() {
        return new Plan(algorithm, chunkCount, new Plan.Extents(in, out, scratch), sends, receives);
    }

    private void markCompleting() {
        boolean[] writtenLater = new boolean[chunkCount];
        for (int i = receives.size() - 1; i >= 0; i--) {
            Step.Arrival arrival = receives.get(i);
            if (arrival.region() != Region.OUT) {
                continue;
            }
            int over = 0;
            for (int chunk = arrival.chunk(); chunk < arrival.chunk() + arrival.chunks(); chunk++) {
                over += writtenLater[chunk] ? 1 : 0;
                writtenLater[chunk] = true;
            }
            if (arrival instanceof Step.Combine combine && over < combine.chunks()) {
                if (over > 0) {
                    throw new IllegalStateException("receive " + i + " of plan " + algorithm + " completes only "
                            + (combine.chunks() - over) + " of its " + combine.chunks() + " chunks: cut it");
                }
                receives.set(i, completing(combine));
            }
        }
    }

    private static Step.Arrival completing(Step.Combine step) {
        if (step instanceof Step.LocalCombine local) {
            return new StepRecords.LocalCombineStep(
                    local.from(),
                    local.region(),
                    local.chunk(),
                    local.chunks(),
                    local.afterSends(),
                    local.afterReceives(),
                    true,
                    local.readsFirst());
        }
        Step.ReceiveCombine combine = (Step.ReceiveCombine) step;
        return new StepRecords.ReceiveCombineStep(
                combine.peer(),
                combine.region(),
                combine.chunk(),
                combine.chunks(),
                combine.afterSends(),
                combine.afterReceives(),
                true,
                combine.readsFirst());
    }

    private PlanBuilder add(Step.Arrival arrival) {
        receives.add(arrival);
        written.set(arrival.region(), arrival.chunk(), arrival.chunks(), receives.size());
        if (arrival instanceof Step.Local local) {
            readLocally.set(local.from(), local.chunk(), local.chunks(), receives.size());
        }
        return this;
    }

    /** Returns how many receives must be finished so that no receive writes these chunks and no local step reads them. */
    private int touched(Region region, int chunk, int chunks) {
        return Math.max(written.latest(region, chunk, chunks), readLocally.latest(region, chunk, chunks));
    }

    /** Returns how many entries of the indexes of last steps were read or written so far. */
    long visitedEntries() {
        return sent.visited() + written.visited() + readLocally.visited();
    }
}
