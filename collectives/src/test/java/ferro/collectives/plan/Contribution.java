package ferro.collectives.plan;

import java.util.BitSet;

/**
 * The content of a chunk as a formula: the ranks that contributed, the chunk, and how it was combined.
 *
 * @param chunk number of the chunk in the operands
 * @param ranks contributing ranks
 * @param hash  of the tree of combines, equal for trees that differ only in the order of two operands, and the same for
 *     all chunks
 * @param isComplete whether the last combine completed it
 * @param isInOrder whether every combine had ranks on its first side that are all below those on its second side
 */
record Contribution(int chunk, BitSet ranks, long hash, boolean isComplete, boolean isInOrder) {
    static Contribution of(int rank, int chunk) {
        BitSet ranks = new BitSet();
        ranks.set(rank);
        return new Contribution(chunk, ranks, mix(31L * rank + 17), false, true);
    }

    /** Returns the combination of both as a step combines them, with this one as what is written. */
    Contribution with(Contribution other, Step.Combine step) {
        Contribution first = step.readsFirst() ? other : this;
        Contribution second = step.readsFirst() ? this : other;
        BitSet union = (BitSet) ranks.clone();
        union.or(other.ranks);
        long low = Math.min(hash, other.hash);
        long high = Math.max(hash, other.hash);
        boolean inOrder = first.isInOrder && second.isInOrder && first.ranks.length() <= second.ranks.nextSetBit(0);
        return new Contribution(chunk, union, mix(mix(low) * 31 + high), step.completes(), inOrder);
    }

    /** Spreads every bit over the word: the finaliser of SplitMix64, Steele and others 2014, doi:10.1145/2714064.2660195. */
    private static long mix(long value) {
        long mixed = value + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }

    @Override
    public String toString() {
        return "chunk " + chunk + " of ranks " + ranks;
    }
}
