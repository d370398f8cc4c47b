package ferro.training.optimizer;

import ferro.training.GradientBuckets;
import java.util.List;

/**
 * The norm of all gradients of a model together.
 *
 * <p>Squares are added in double: first those of one rank's parts of all buckets, then these sums in rank order. If the
 * buckets are sharded, each rank computes its own sum, and the sums are gathered. Otherwise each rank computes the sums
 * of all ranks. Both ways give the same bits. Padding is not counted.
 *
 * <p>One thread at a time may use it.
 */
final class GradientNorm {
    private final GradientBuckets buckets;
    private final List<BucketShare> shares;
    private final double[] own = new double[1];
    private final double[] squares;

    GradientNorm(GradientBuckets buckets, List<BucketShare> shares) {
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
