package ferro.collectives.plan;

/**
 * One step of a plan. Chunks are numbered over the full operation, the same on all ranks. {@link ChunkExtent} is the
 * range of chunks that a region has.
 *
 * <p>A step may be posted after every earlier step of its own list is posted. The first {@code afterSends} sends and
 * the first {@code afterReceives} receives of its plan must also be finished. {@link PlanBuilder}, which makes all
 * steps, computes the two numbers of each step. PlanVerifier, in the tests of this package, checks the two numbers of
 * each step independently.
 */
public sealed interface Step {
    /** Returns how many sends, counted from the first send of the plan, must be finished before this step. */
    int afterSends();

    /** Returns how many entries of the receive list, counted from the first, must be finished before this step. */
    int afterReceives();

    /** Returns the region that this step sends from or writes. A step writes only OUT or SCRATCH. */
    Region region();

    /** Returns the first chunk. */
    int chunk();

    /** Returns the number of chunks, at least 1. */
    int chunks();

    /** Returns the peer; -1 for a step inside this rank. */
    int peer();

    /** A step that sends chunks of a region. The first list of a plan has only steps of this kind. */
    record Send(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives) implements Step {}

    /** A step that writes. All entries of the second list of a plan are steps that write. */
    sealed interface WriteStep extends Step {}

    /** An entry of the second list of a plan that combines elements. */
    sealed interface CombineStep extends WriteStep {
        /**
         * Returns whether this step adds the last of the operands of all ranks to its chunks. A step that adds the last
         * operand also divides an average. {@link PlanBuilder} computes the result of this method.
         */
        boolean completes();

        /**
         * Returns whether the chunks that are read are the left operand, so that the step computes
         * {@code read op written}. If the written chunks are the left operand, the step computes
         * {@code written op read}. The order matters only for an op that is not commutative.
         */
        boolean readsFirst();
    }

    /** A step that receives chunks and overwrites chunks of a region with the received elements. */
    record Receive(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements WriteStep {}

    /** A step that receives chunks and combines the received elements into the chunks of a region. */
    record ReceiveCombine(
            int peer,
            Region region,
            int chunk,
            int chunks,
            int afterSends,
            int afterReceives,
            boolean completes,
            boolean readsFirst)
            implements CombineStep {}

    /**
     * A step between two regions of this rank. A local step is in the list of receives, and is finished when it is
     * posted.
     */
    sealed interface LocalStep extends WriteStep {
        /** Returns the region that is read, which is not {@link #region}. */
        Region from();

        @Override
        default int peer() {
            return -1;
        }
    }

    /** A step that copies chunks from one region of this rank to another. The chunks are the same in both regions. */
    record LocalCopy(Region from, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements LocalStep {}

    /**
     * A step that combines chunks of one region of this rank into another region. The chunks are the same in both
     * regions.
     */
    record LocalCombine(
            Region from,
            Region region,
            int chunk,
            int chunks,
            int afterSends,
            int afterReceives,
            boolean completes,
            boolean readsFirst)
            implements LocalStep, CombineStep {}
}
