package ferro.training;

import java.util.List;

/**
 * How large buckets of gradients are, and in which order gradients lie in them.
 *
 * <p>They must be the same on all ranks. Small buckets begin to travel early, and the last one, whose time nothing hides, is short;
 * large ones cost less each. {@code ferro bench overlap} measures which size is the fastest for a job.
 *
 * @param firstBytes size of the first bucket in bytes; a parameter that is larger has a bucket of its own
 * @param bytes size of every other bucket in bytes
 * @param order names of all parameters in the order in which their gradients become ready; empty for the reverse of the order in
 *     which parameters are listed
 */
public record BucketSettings(long firstBytes, long bytes, List<String> order) {
    /** Every bucket has 1 MiB, and the order is that of the parameters, reversed. */
    public static final BucketSettings DEFAULT = new BucketSettings(1 << 20, 1 << 20, List.of());

    /**
     * Checks the sizes and copies the names.
     *
     * @param firstBytes size of the first bucket in bytes
     * @param bytes size of every other bucket in bytes
     * @param order names of all parameters in the order in which their gradients become ready, or none
     * @throws IllegalArgumentException if a size is not positive
     */
    public BucketSettings {
        order = List.copyOf(order);
        if (firstBytes < 1 || bytes < 1) {
            throw new IllegalArgumentException(
                    "need positive sizes of buckets, found " + firstBytes + " and " + bytes + " bytes");
        }
    }

    /**
     * Changes the sizes.
     *
     * @param first size of the first bucket in bytes
     * @param others size of every other bucket in bytes
     * @return settings with these sizes
     * @throws IllegalArgumentException if a size is not positive
     */
    public BucketSettings withBytes(long first, long others) {
        return new BucketSettings(first, others, order);
    }

    /**
     * Changes the order.
     *
     * @param names names of all parameters in the order in which their gradients become ready
     * @return settings with this order
     */
    public BucketSettings withOrder(String... names) {
        return new BucketSettings(firstBytes, bytes, List.of(names));
    }
}
