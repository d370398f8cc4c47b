package ferro.collectives.plan;

/**
 * One step of a plan. Chunks are numbered over the whole operation, the same on all ranks; {@link Extent} says which of
 * them a region holds.
 *
 * <p>A step may be posted once the first {@code afterSends} sends and the first {@code afterReceives} receives of its
 * plan are finished, and once every step before it in its own list is posted. {@link PlanBuilder} works both numbers
 * out; PlanVerifier, in the tests of this package, checks them without trusting it.
 */
public sealed interface Step {
    /**
     * Returns how many sends, from the first, must be finished before.
     *
     * @return at least 0
     */
    int afterSends();

    /**
     * Returns how many entries of the receive list, from the first, must be finished before.
     *
     * @return at least 0
     */
    int afterReceives();

    /**
     * Sends chunks; the only kind in a plan's first list.
     *
     * @param peer          to whom
     * @param region        from where
     * @param chunk         first chunk
     * @param chunks        how many
     * @param afterSends    sends to wait for
     * @param afterReceives receives to wait for
     */
    record Send(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives) implements Step {}

    /** An entry of a plan's second list: any step that writes. */
    sealed interface Arrival extends Step {
        /**
         * Returns the region written.
         *
         * @return OUT or SCRATCH
         */
        Region region();

        /**
         * Returns the first chunk written.
         *
         * @return chunk
         */
        int chunk();

        /**
         * Returns how many chunks are written.
         *
         * @return at least 1
         */
        int chunks();
    }

    /** An entry that combines. */
    sealed interface Combine extends Arrival {
        /**
         * Returns whether the chunks are combined of the operands of all ranks then, so that an average is divided here;
         * {@link PlanBuilder} works it out.
         *
         * @return false if an operand is missing
         */
        boolean completes();
    }

    /**
     * Receives chunks and overwrites what is there.
     *
     * @param peer          from whom
     * @param region        where to
     * @param chunk         first chunk
     * @param chunks        how many
     * @param afterSends    sends to wait for
     * @param afterReceives receives to wait for
     */
    record Receive(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements Arrival {}

    /**
     * Receives chunks and combines them into what is there.
     *
     * @param peer          from whom
     * @param region        where to
     * @param chunk         first chunk
     * @param chunks        how many
     * @param afterSends    sends to wait for
     * @param afterReceives receives to wait for
     * @param completes     as {@link Combine#completes}
     */
    record ReceiveCombine(
            int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives, boolean completes)
            implements Combine {}

    /** A step between two regions of this rank; it is in the list of receives, and is finished when posted. */
    sealed interface Local extends Arrival {
        /**
         * Returns the region read.
         *
         * @return another one than {@link #region}
         */
        Region from();
    }

    /**
     * Copies chunks from another region of this rank.
     *
     * @param from          source region
     * @param region        where to
     * @param chunk         first chunk, the same in both regions
     * @param chunks        how many
     * @param afterSends    sends to wait for
     * @param afterReceives receives to wait for
     */
    record LocalCopy(Region from, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements Local {}

    /**
     * Combines chunks of another region of this rank into what is there.
     *
     * @param from          source region
     * @param region        where to
     * @param chunk         first chunk, the same in both regions
     * @param chunks        how many
     * @param afterSends    sends to wait for
     * @param afterReceives receives to wait for
     * @param completes     as {@link Combine#completes}
     */
    record LocalCombine(
            Region from, Region region, int chunk, int chunks, int afterSends, int afterReceives, boolean completes)
            implements Local, Combine {}
}
