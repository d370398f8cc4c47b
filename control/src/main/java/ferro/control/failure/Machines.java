package ferro.control.failure;

import ferro.control.wire.RankLists;
import java.util.BitSet;
import java.util.function.IntPredicate;

/** The machines of the ranks of a group, as far as the ranks reported them when they joined. */
public final class Machines {
    private final int self;
    private final int[] joinedRanks;
    private final RankProcesses processes;

    /** Takes this rank, the ranks of the joined group in the order of this one, and the known processes of those. */
    public Machines(int self, int[] joinedRanks, RankProcesses processes) {
        this.self = self;
        this.joinedRanks = joinedRanks;
        this.processes = processes;
    }

    /** Returns this rank. */
    public int self() {
        return self;
    }

    /** Returns the ranks of the joined group, in the order of this group. */
    public int[] joinedRanks() {
        return joinedRanks;
    }

    /** Returns the known processes of the ranks of the joined group. */
    public RankProcesses processes() {
        return processes;
    }

    /** Returns this rank and the next ones, at most so many, as if they were a group of their own. */
    public Machines sample(int max) {
        int[] few = new int[Math.min(max, joinedRanks.length)];
        for (int rank = 0; rank < few.length; rank++) {
            few[rank] = joinedRanks[(self + rank) % joinedRanks.length];
        }
        return new Machines(0, few, processes);
    }

    /** Returns the name of a rank's machine, for people; empty if it is unknown or this rank's own machine. */
    public String away(int rank) {
        String machine = processes.machine(joinedRanks[rank]);
        return machine.equals(processes.machine(joinedRanks[self])) ? "" : machine;
    }

    /**
     * Returns the ranks of this group on another machine if a condition holds for all of them.
     *
     * @param rank whose machine
     * @param fate condition of a rank
     * @return all ranks there, at least two; empty if the condition fails for one, or the machine is not known to be another
     */
    public BitSet sharing(int rank, IntPredicate fate) {
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

    /** Returns a text that says that no rank of a machine answers. */
    public String silence(BitSet there) {
        return silence(away(there.nextSetBit(0)), there);
    }

    /** Says that the ranks of a machine are silent together. */
    public static String silence(String machine, BitSet there) {
        return machine + ": "
                + (there.cardinality() == 1
                        ? "its " + RankLists.ranks(there) + " does not answer"
                        : "none of its " + RankLists.ranks(there) + " answers")
                + ": the network is cut or the machine is down";
    }
}
