package ferro.training;

/**
 * The order of the samples in one epoch. The order is a permutation that is computed sample by sample and never stored.
 *
 * <p>A Feistel network permutes all numbers of an even number of bits. The number of permuted numbers is at most four
 * times the number of samples. A result that is not the number of a sample is permuted again until the result is the
 * number of a sample (cycle walking). The same number of samples, seed and epoch give the same order in every version
 * of ferro, because checkpoints depend on this order.
 *
 * <p>Sources: Luby and Rackoff 1988, doi:10.1137/0217022; Black and Rogaway 2002, doi:10.1007/3-540-45760-7_9. The
 * mixing function is the function of SplitMix64, Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195.
 */
final class SampleOrder {
    /** Name of this ordering method in checkpoints. */
    static final String NAME = "feistel-6";

    /**
     * Number of rounds. Four rounds are enough for many samples. With few samples, six rounds give all orders about the
     * same probability.
     */
    private static final int ROUNDS = 6;

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private final long sampleCount;
    private final int halfBits;
    private final long halfMask;
    private final long[] keys = new long[ROUNDS];

    SampleOrder(long sampleCount, long seed, long epoch) {
        this.sampleCount = sampleCount;
        int bits = Long.SIZE - Long.numberOfLeadingZeros(sampleCount - 1);
        halfBits = Math.max(1, (bits + 1) / 2);
        halfMask = (1L << halfBits) - 1;
        long key = mixed(mixed(seed) + epoch);
        for (int round = 0; round < ROUNDS; round++) {
            key += GOLDEN_GAMMA;
            keys[round] = mixed(key);
        }
    }

    /** Returns the sample at a position from 0 to {@code sampleCount - 1}. */
    long sampleAt(long position) {
        long number = position;
        do {
            number = permuted(number);
        } while (Long.compareUnsigned(number, sampleCount) >= 0);
        return number;
    }

    private long permuted(long number) {
        long left = number >>> halfBits;
        long right = number & halfMask;
        for (long key : keys) {
            long next = left ^ mixed(right + key) & halfMask;
            left = right;
            right = next;
        }
        return left << halfBits | right;
    }

    private static long mixed(long value) {
        long first = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
        return second ^ second >>> 31;
    }
}
