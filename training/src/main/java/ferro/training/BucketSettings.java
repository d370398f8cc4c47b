package ferro.training;

import java.util.List;

/**
 * The sizes of gradient buckets, and the order of the gradients in the buckets.
 *
 * <p>The settings must be the same on all ranks. If buckets are small, ranks start to send early. The time of a small
 * last bucket, which no computation hides, is short. Each bucket has a fixed cost, so large buckets have less overhead.
 * {@code ferro bench overlap} measures which size is the fastest for a job.
 *
 * @param firstBytes size of the first bucket in bytes; a parameter that is larger has a separate bucket
 * @param bytes size of every other bucket in bytes
 * @param order names of all parameters in the order in which their gradients become ready; empty for the reverse of the
 *     order in which parameters are listed
 */
public record BucketSettings(long firstBytes, long bytes, List<String> order) {
    /** Buckets of 1 MiB, with the parameters in reverse order. */
    public static final BucketSettings DEFAULT = new BucketSettings(1 << 20, 1 << 20, List.of());

    /**
     * Checks the sizes and copies the names.
     *
     * @param firstBytes size of the first bucket in bytes
     * @param bytes size of every other bucket in bytes
     * @param order names of all parameters in the order in which their gradients become ready; may be empty
     * @throws IllegalArgumentException if a size is not positive
     */
    public BucketSettings {
        order = List.copyOf(order);
        if (firstBytes < 1 || bytes < 1) {
            throw new IllegalArgumentException(
                    "need positive bucket sizes, found " + firstBytes + " and " + bytes + " bytes");
        }
    }

    /**
     * {@return these settings with other sizes}
     *
     * @param first size of the first bucket in bytes
     * @param others size of every other bucket in bytes
     * @throws IllegalArgumentException if a size is not positive
     */
    public BucketSettings withBytes(long first, long others) {
        return new BucketSettings(first, others, order);
    }

    /**
     * {@return these settings with another order}
     *
     * @param names names of all parameters in the order in which their gradients become ready
     */
    public BucketSettings withOrder(String... names) {
        return new BucketSettings(firstBytes, bytes, List.of(names));
    }
}
