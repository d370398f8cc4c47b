package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A builder that collects the steps of a plan in the order in which a single-threaded program would do the steps. The
 * builder computes the minimum number of earlier steps that each step must wait for. Not thread-safe.
 *
 * <p>A send waits for the last step that wrote one of its chunks. A step that writes waits for the last send, the last
 * local step and the last writing step that used one of its chunks. So the order of combines and every bit of the
 * result are the same in every run.
 */
final class PlanBuilder {
    private final String algorithm;
    private final int chunkCount;
    private final ChunkExtent in;
    private final ChunkExtent out;
    private ChunkExtent scratch = ChunkExtent.NONE;
    private final List<Step.Send> sends = new ArrayList<>();
    private final List<Step.WriteStep> receives = new ArrayList<>();
    private final LastStepIndex sent = new LastStepIndex();
    /** For each chunk, the last entry of the receive list that wrote the chunk. */
    private final LastStepIndex written = new LastStepIndex();
    /** For each chunk, the last local step that read the chunk. */
    private final LastStepIndex readLocally = new LastStepIndex();

    private long visited;

    /** Begins a plan with chunks of the caller's operand and result. */
    PlanBuilder(String algorithm, int chunkCount, ChunkExtent in, ChunkExtent out) {
        this.algorithm = algorithm;
        this.chunkCount = chunkCount;
        this.in = in;
        this.out = out;
    }

    PlanBuilder scratch(ChunkExtent extent) {
        scratch = extent;
        return this;
    }

    PlanBuilder send(int peer, Region region, int chunk, int chunks) {
        sends.add(new Step.Send(peer, region, chunk, chunks, 0, written.latest(region, chunk, chunks)));
        sent.set(region, chunk, chunks, sends.size());
        return this;
    }

    PlanBuilder receive(int peer, Region region, int chunk, int chunks) {
        int afterSends = sent.latest(region, chunk, chunks);
        return add(new Step.Receive(peer, region, chunk, chunks, afterSends, touched(region, chunk, chunks)));
    }

    PlanBuilder receiveCombine(int peer, Region region, int chunk, int chunks) {
        return receiveCombine(peer, region, chunk, chunks, false);
    }

    /** Adds a step that combines received chunks. If {@code readsFirst}, the received chunks are the left operand. */
    PlanBuilder receiveCombine(int peer, Region region, int chunk, int chunks, boolean readsFirst) {
        int afterSends = sent.latest(region, chunk, chunks);
        int touched = touched(region, chunk, chunks);
        return add(new Step.ReceiveCombine(peer, region, chunk, chunks, afterSends, touched, false, readsFirst));
    }

    PlanBuilder copy(Region from, Region region, int chunk, int chunks) {
        int afterSends = sent.latest(region, chunk, chunks);
        int touched = Math.max(written.latest(from, chunk, chunks), touched(region, chunk, chunks));
        return add(new Step.LocalCopy(from, region, chunk, chunks, afterSends, touched));
    }

    PlanBuilder combine(Region from, Region region, int chunk, int chunks) {
        return combine(from, region, chunk, chunks, false);
    }

    /** Adds a step that combines two regions. If {@code readsFirst}, the chunks that are read are the left operand. */
    PlanBuilder combine(Region from, Region region, int chunk, int chunks, boolean readsFirst) {
        int afterSends = sent.latest(region, chunk, chunks);
        int touched = Math.max(written.latest(from, chunk, chunks), touched(region, chunk, chunks));
        return add(new Step.LocalCombine(from, region, chunk, chunks, afterSends, touched, false, readsFirst));
    }

    /**
     * Ends the plan. A step that combines into chunks of OUT completes the chunks if no later step writes them, so that
     * OUT has the result. A step must complete all of its chunks or none.
     */
    Plan build() {
        markCompleting();
        return buildScan();
    }

    /**
     * Ends the plan of a scan. In a scan, no step completes chunks, because only the last rank has the operands of all
     * ranks, and a rank may forward data that the rank has combined.
     */
    Plan buildScan() {
        return new Plan(algorithm, chunkCount, in, out, scratch, sends, receives);
    }

    private void markCompleting() {
        boolean[] writtenLater = new boolean[chunkCount];
        for (int i = receives.size() - 1; i >= 0; i--) {
            Step.WriteStep arrival = receives.get(i);
            if (arrival.region() != Region.OUT) {
                continue;
            }
            int over = 0;
            for (int chunk = arrival.chunk(); chunk < arrival.chunk() + arrival.chunks(); chunk++) {
                over += writtenLater[chunk] ? 1 : 0;
                writtenLater[chunk] = true;
            }
            if (arrival instanceof Step.CombineStep combine && over < combine.chunks()) {
                if (over > 0) {
                    throw new IllegalStateException("receive " + i + " of plan " + algorithm + " completes only "
                            + (combine.chunks() - over) + " of its " + combine.chunks() + " chunks: cut it");
                }
                receives.set(i, completing(combine));
            }
        }
    }

    private static Step.WriteStep completing(Step.CombineStep step) {
        Region region = step.region();
        int chunk = step.chunk();
        int chunks = step.chunks();
        int sends = step.afterSends();
        int receives = step.afterReceives();
        boolean first = step.readsFirst();
        return step instanceof Step.LocalCombine local
                ? new Step.LocalCombine(local.from(), region, chunk, chunks, sends, receives, true, first)
                : new Step.ReceiveCombine(step.peer(), region, chunk, chunks, sends, receives, true, first);
    }

    private PlanBuilder add(Step.WriteStep arrival) {
        receives.add(arrival);
        written.set(arrival.region(), arrival.chunk(), arrival.chunks(), receives.size());
        if (arrival instanceof Step.LocalStep local) {
            readLocally.set(local.from(), local.chunk(), local.chunks(), receives.size());
        }
        return this;
    }

    /** Returns how many receives must end before a step may write these chunks, because earlier steps use them. */
    private int touched(Region region, int chunk, int chunks) {
        return Math.max(written.latest(region, chunk, chunks), readLocally.latest(region, chunk, chunks));
    }

    /** Returns how many entries of the indexes of last steps were read or written so far. */
    long visitedEntries() {
        return visited;
    }

    /**
     * An index of the last step that touched each chunk of each region. A step is identified by its number in the list
     * of sends or receives, counted from 1. The number 0 stands for no step.
     */
    private final class LastStepIndex {
        /** Numbers of steps by region and chunk; null for a region that no step has touched. */
        private final int[][] steps = new int[Region.values().length][];

        int latest(Region region, int chunk, int chunks) {
            int[] ofRegion = steps[region.ordinal()];
            int end = ofRegion == null ? chunk : Math.min(chunk + chunks, ofRegion.length);
            int latest = 0;
            for (int i = chunk; i < end; i++) {
                latest = Math.max(latest, ofRegion[i]);
                visited++;
            }
            return latest;
        }

        /**
         * Records a step that touches {@code chunks} chunks, from {@code chunk} on. Steps are recorded in the order of
         * their list.
         */
        void set(Region region, int chunk, int chunks, int step) {
            int[] ofRegion = steps[region.ordinal()];
            if (ofRegion == null || ofRegion.length < chunk + chunks) {
                int length = Math.max(chunkCount, chunk + chunks);
                ofRegion = ofRegion == null ? new int[length] : Arrays.copyOf(ofRegion, length);
                steps[region.ordinal()] = ofRegion;
            }
            Arrays.fill(ofRegion, chunk, chunk + chunks, step);
            visited += chunks;
        }
    }
}
