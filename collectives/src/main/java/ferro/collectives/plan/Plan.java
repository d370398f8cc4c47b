package ferro.collectives.plan;

import java.util.List;

/**
 * The steps of one rank in one collective. A plan has two ordered lists of steps with dependencies, over chunks of
 * regions.
 *
 * <p>A plan depends on rank, world size and root only, never on a byte count. So a plan is made once and cached. Sends
 * are posted in the order of the first list, and receives in the order of the second list. The two lists proceed
 * concurrently, and each step is posted as soon as its dependencies allow. So the segments of a chunk form a pipeline.
 * All ranks of an operation use plans of one algorithm.
 *
 * @param algorithm  name in texts and in the fingerprint, for example {@code ring}
 * @param chunkCount number of parts into which the elements of the operation are divided
 * @param in         chunks in {@link Region#IN}
 * @param out        chunks in {@link Region#OUT}
 * @param scratch    chunks in {@link Region#SCRATCH}
 * @param sends      sends, in the order in which they are posted
 * @param receives   receives, combining receives and local steps, in the order in which they are posted
 */
public record Plan(
        String algorithm,
        int chunkCount,
        ChunkExtent in,
        ChunkExtent out,
        ChunkExtent scratch,
        List<Step.Send> sends,
        List<Step.WriteStep> receives) {
    /** Copies the lists. */
    public Plan {
        sends = List.copyOf(sends);
        receives = List.copyOf(receives);
    }

    /** Returns which chunks a region holds. */
    public ChunkExtent extent(Region region) {
        return switch (region) {
            case IN -> in;
            case OUT -> out;
            case SCRATCH -> scratch;
        };
    }
}
