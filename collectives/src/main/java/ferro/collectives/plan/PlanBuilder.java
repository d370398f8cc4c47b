package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects the steps of a plan in the order in which a single-threaded program would do them, and computes the least that
 * each must wait for; not thread-safe.
 *
 * <p>A send waits for the last step that wrote one of its chunks. A step that writes waits for the last send and the last
 * local step that read one of its chunks, and for the last step that wrote one, so that the order of combines, and with it every
 * bit of the result, is the same in every run.
 */
public final class PlanBuilder {
    private final String algorithm;
    private final int chunkCount;
    private Extent in = Extent.NONE;
    private Extent out = Extent.NONE;
    private Extent scratch = Extent.NONE;
    private final List<Step.Send> sends = new ArrayList<>();
    private final List<Step.Arrival> receives = new ArrayList<>();

    /**
     * Begins a plan.
     *
     * @param algorithm  its name
     * @param chunkCount into how many parts the operation's elements are cut
     */
    public PlanBuilder(String algorithm, int chunkCount) {
        this.algorithm = algorithm;
        this.chunkCount = chunkCount;
    }

    /**
     * Sets which chunks the caller's operand holds.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder in(Extent extent) {
        in = extent;
        return this;
    }

    /**
     * Sets which chunks the caller's result holds.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder out(Extent extent) {
        out = extent;
        return this;
    }

    /**
     * Sets which chunks of scratch memory are needed.
     *
     * @param extent chunks
     * @return this
     */
    public PlanBuilder scratch(Extent extent) {
        scratch = extent;
        return this;
    }

    /**
     * Sends chunks.
     *
     * @param peer   to whom
     * @param region from where
     * @param chunk  first chunk
     * @param chunks how many
     * @return this
     */
    public PlanBuilder send(int peer, Region region, int chunk, int chunks) {
        int written = lastWrite(region, chunk, chunks);
        sends.add(new Step.Send(peer, region, chunk, chunks, 0, written));
        return this;
    }

    /**
     * Receives chunks.
     *
     * @param peer   from whom
     * @param region where to
     * @param chunk  first chunk
     * @param chunks how many
     * @return this
     */
    public PlanBuilder receive(int peer, Region region, int chunk, int chunks) {
        receives.add(new Step.Receive(
                peer, region, chunk, chunks, lastSend(region, chunk, chunks), lastTouch(region, chunk, chunks)));
        return this;
    }

    /**
     * Receives chunks and combines them into what is there.
     *
     * @param peer   from whom
     * @param region where to
     * @param chunk  first chunk
     * @param chunks how many
     * @return this
     */
    public PlanBuilder receiveCombine(int peer, Region region, int chunk, int chunks) {
        receives.add(new Step.ReceiveCombine(
                peer, region, chunk, chunks, lastSend(region, chunk, chunks), lastTouch(region, chunk, chunks), false));
        return this;
    }

    /**
     * Copies chunks between regions of this rank.
     *
     * @param from   source region
     * @param region where to
     * @param chunk  first chunk
     * @param chunks how many
     * @return this
     */
    public PlanBuilder copy(Region from, Region region, int chunk, int chunks) {
        int touched = Math.max(lastWrite(from, chunk, chunks), lastTouch(region, chunk, chunks));
        receives.add(new Step.LocalCopy(from, region, chunk, chunks, lastSend(region, chunk, chunks), touched));
        return this;
    }

    /**
     * Combines chunks of a region of this rank into those of another.
     *
     * @param from   source region
     * @param region where to
     * @param chunk  first chunk
     * @param chunks how many
     * @return this
     */
    public PlanBuilder combine(Region from, Region region, int chunk, int chunks) {
        int touched = Math.max(lastWrite(from, chunk, chunks), lastTouch(region, chunk, chunks));
        receives.add(
                new Step.LocalCombine(from, region, chunk, chunks, lastSend(region, chunk, chunks), touched, false));
        return this;
    }

    /**
     * Ends the plan. A combine that nothing writes over in OUT completes its chunks: what is in OUT then is the result.
     *
     * @return plan
     * @throws IllegalStateException if a combine completes some of its chunks only
     */
    public Plan build() {
        markCompleting();
        return new Plan(algorithm, chunkCount, in, out, scratch, sends, receives);
    }

    private void markCompleting() {
        boolean[] written = new boolean[chunkCount];
        for (int i = receives.size() - 1; i >= 0; i--) {
            Step.Arrival arrival = receives.get(i);
            if (arrival.region() != Region.OUT) {
                continue;
            }
            int over = 0;
            for (int chunk = arrival.chunk(); chunk < arrival.chunk() + arrival.chunks(); chunk++) {
                over += written[chunk] ? 1 : 0;
                written[chunk] = true;
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
            return new Step.LocalCombine(
                    local.from(),
                    local.region(),
                    local.chunk(),
                    local.chunks(),
                    local.afterSends(),
                    local.afterReceives(),
                    true);
        }
        Step.ReceiveCombine combine = (Step.ReceiveCombine) step;
        return new Step.ReceiveCombine(
                combine.peer(),
                combine.region(),
                combine.chunk(),
                combine.chunks(),
                combine.afterSends(),
                combine.afterReceives(),
                true);
    }

    /** Returns how many receives must be done so that the last write of these chunks is. */
    private int lastWrite(Region region, int chunk, int chunks) {
        for (int i = receives.size() - 1; i >= 0; i--) {
            Step.Arrival arrival = receives.get(i);
            if (arrival.region() == region && overlap(arrival.chunk(), arrival.chunks(), chunk, chunks)) {
                return i + 1;
            }
        }
        return 0;
    }

    /** As {@link #lastWrite}, but also counts steps of this rank that read these chunks. */
    private int lastTouch(Region region, int chunk, int chunks) {
        int written = lastWrite(region, chunk, chunks);
        for (int i = receives.size() - 1; i >= written; i--) {
            if (receives.get(i) instanceof Step.Local local
                    && local.from() == region
                    && overlap(local.chunk(), local.chunks(), chunk, chunks)) {
                return i + 1;
            }
        }
        return written;
    }

    /** Returns how many sends must be done so that none still reads these chunks. */
    private int lastSend(Region region, int chunk, int chunks) {
        for (int i = sends.size() - 1; i >= 0; i--) {
            Step.Send send = sends.get(i);
            if (send.region() == region && overlap(send.chunk(), send.chunks(), chunk, chunks)) {
                return i + 1;
            }
        }
        return 0;
    }

    private static boolean overlap(int first, int length, int otherFirst, int otherLength) {
        return first < otherFirst + otherLength && otherFirst < first + length;
    }
}
