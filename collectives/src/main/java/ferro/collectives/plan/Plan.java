package ferro.collectives.plan;

import java.util.List;

/**
 * What one rank does in one collective: two ordered lists of steps with dependencies, over chunks of regions.
 *
 * <p>A plan depends on rank, world size and root only, never on a byte count, so it is made once and cached. Sends are
 * posted in their order, receives in theirs. The two lists proceed side by side, each step as soon as its dependencies
 * allow, so that segments pipeline by themselves. All ranks of an operation use plans of one algorithm.
 *
 * @param algorithm  name for people and for the fingerprint, for example {@code ring}
 * @param chunkCount into how many parts the operation's elements are cut
 * @param in         chunks in {@link Region#IN}
 * @param out        chunks in {@link Region#OUT}
 * @param scratch    chunks in {@link Region#SCRATCH}
 * @param sends      first list
 * @param receives   second list: receives, combining receives and local steps
 */
public record Plan(
        String algorithm,
        int chunkCount,
        Extent in,
        Extent out,
        Extent scratch,
        List<Step.Send> sends,
        List<Step.Arrival> receives) {
    /**
     * Copies the lists.
     *
     * @param algorithm  name
     * @param chunkCount parts
     * @param in         chunks in IN
     * @param out        chunks in OUT
     * @param scratch    chunks in SCRATCH
     * @param sends      first list
     * @param receives   second list
     */
    public Plan {
        sends = List.copyOf(sends);
        receives = List.copyOf(receives);
    }

    /**
     * Returns which chunks a region holds.
     *
     * @param region region
     * @return extent
     */
    public Extent extent(Region region) {
        return switch (region) {
            case IN -> in;
            case OUT -> out;
            case SCRATCH -> scratch;
        };
    }
}
