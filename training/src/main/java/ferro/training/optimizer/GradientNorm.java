package ferro.training.optimizer;

import ferro.training.GradientBuckets;
import java.util.List;

/**
 * The norm of all gradients of a model together.
 *
 * <p>Squares are added in double. For each rank, the squares of its parts of all buckets are added. Then the sums of
 * the ranks are added in rank order. If the buckets are sharded, each rank computes its own sum, and the sums of all
 * ranks are gathered. If the buckets are not sharded, each rank computes the sums of all ranks. The norm has the same
 * bits with and without sharding. Padding is not counted.
 *
 * <p>One thread at a time may use a {@code GradientNorm} object.
 */
final class GradientNorm {
    private final GradientBuckets buckets;
    private final List<BucketUpdater> shares;
    private final double[] own = new double[1];
    private final double[] squares;

    GradientNorm(GradientBuckets buckets, List<BucketUpdater> shares) {
        this.buckets = buckets;
        this.shares = shares;
        squares = new double[buckets.layout().worldSize()];
    }

    /** Computes the norm after all gradients are averaged. This is a collective call if the buckets are sharded. */
    double length() {
        if (buckets.isSharded()) {
            own[0] = squares(buckets.group().rank());
            buckets.group().allGather(own, squares);
        } else {
            for (int rank = 0; rank < squares.length; rank++) {
                squares[rank] = squares(rank);
            }
        }
        double sum = 0;
        for (double ofRank : squares) {
            sum += ofRank;
        }
        return Math.sqrt(sum);
    }

    private double squares(int rank) {
        double sum = 0;
        for (int index = 0; index < shares.size(); index++) { // an index, because an iterator would allocate memory
            sum += shares.get(index).squares(rank);
        }
        return sum;
    }
}
