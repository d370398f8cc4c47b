package ferro.training.optimizer;

import ferro.training.GradientBuckets;
import java.util.List;

/**
 * The length of all gradients of a model together.
 *
 * <p>Squares are added in double: those of a rank's parts of all buckets first, then these sums in rank order. Where each rank has its
 * own part only, the sums are gathered; where each has all gradients, it makes all sums itself. So both have the same bits. Padding does
 * not count.
 *
 * <p>One thread at a time.
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

    /** Computes it when all gradients are there; a collective call if the buckets are sharded. */
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
        for (int index = 0; index < shares.size(); index++) { // no iterator: nothing is allocated
            sum += shares.get(index).squares(rank);
        }
        return sum;
    }
}
