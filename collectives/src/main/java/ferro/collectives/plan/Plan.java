package ferro.collectives.plan;

import java.util.List;

/**
 * The steps of one rank in one collective: two ordered lists of steps with dependencies, over chunks of regions.
 *
 * <p>A plan depends on rank, world size and root only, never on a byte count. So a plan is made once and cached. Sends
 * are posted in the order of the first list, and receives in the order of the second list. The two lists proceed
 * concurrently, and each step is posted as soon as its dependencies allow. So the segments of a chunk form a pipeline.
 * All ranks of an operation use plans of one algorithm.
 */
public final class Plan {
    private final String algorithm;
    private final int chunkCount;
    private final Extent in;
    private final Extent out;
    private final Extent scratch;
    private final List<Step.Send> sends;
    private final List<Step.Arrival> receives;

    /** The chunks of each region. */
    record Extents(Extent in, Extent out, Extent scratch) {}

    Plan(String algorithm, int chunkCount, Extents extents, List<Step.Send> sends, List<Step.Arrival> receives) {
        this.sends = List.copyOf(sends);
        this.receives = List.copyOf(receives);
        this.algorithm = algorithm;
        this.chunkCount = chunkCount;
        this.in = extents.in;
        this.out = extents.out;
        this.scratch = extents.scratch;
    }

    /** {@return the name for people and for the fingerprint, for example {@code ring}} */
    public String algorithm() {
        return algorithm;
    }

    /** {@return the number of parts into which the elements of the operation are divided} */
    public int chunkCount() {
        return chunkCount;
    }

    /** {@return the chunks in {@link Region#IN}} */
    public Extent in() {
        return in;
    }

    /** {@return the chunks in {@link Region#OUT}} */
    public Extent out() {
        return out;
    }

    /** {@return the chunks in {@link Region#SCRATCH}} */
    public Extent scratch() {
        return scratch;
    }

    /** {@return the sends, in the order in which they are posted} */
    public List<Step.Send> sends() {
        return sends;
    }

    /** {@return the receives, combining receives and local steps, in the order in which they are posted} */
    public List<Step.Arrival> receives() {
        return receives;
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
