package ferro.collectives.control;

import java.util.BitSet;
import java.util.function.IntPredicate;

/** Which ranks of a group are on which machine, as far as they have said so when they joined. */
final class Machines {
    private final int self;
    private final int[] joinedRanks;
    private final RankProcesses processes;

    /** Takes this rank, the ranks of the joined group in the order of this one, and what is known of those. */
    Machines(int self, int[] joinedRanks, RankProcesses processes) {
        this.self = self;
        this.joinedRanks = joinedRanks;
        this.processes = processes;
    }

    int self() {
        return self;
    }

    int[] joinedRanks() {
        return joinedRanks;
    }

    /** Returns what people call the machine of a rank; empty if that is unknown, or this rank's own. */
    String away(int rank) {
        String machine = processes.machine(joinedRanks[rank]);
        return machine.equals(processes.machine(joinedRanks[self])) ? "" : machine;
    }

    /**
     * Returns the ranks of this group on another machine if they share one fate.
     *
     * @param rank whose machine
     * @param fate whether it has befallen a rank
     * @return all ranks there, two at least; empty if one of them was spared, or the machine is not known to be another
     */
    BitSet sharing(int rank, IntPredicate fate) {
        String machine = away(rank);
        BitSet there = new BitSet();
        for (int other = 0; other < joinedRanks.length && !machine.isEmpty(); other++) {
            if (away(other).equals(machine)) {
                if (!fate.test(other)) {
                    return new BitSet();
                }
                there.set(other);
            }
        }
        return there.cardinality() > 1 ? there : new BitSet();
    }

    /** Says that no rank of a machine answers. */
    String silence(BitSet there) {
        return silence(away(there.nextSetBit(0)), there);
    }

    static String silence(String machine, BitSet there) {
        return machine + ": "
                + (there.cardinality() == 1
                        ? "its " + Names.ranks(there) + " does not answer"
                        : "none of its " + Names.ranks(there) + " answers")
                + ": the network is cut or the machine is down";
    }
}
