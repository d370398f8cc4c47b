package ferro.control.failure;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.control.wire.RankSetFormat;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/** The machines of the ranks of a group. Each rank has reported its machine when it joined. */
public final class Machines {
    private final int self;
    private final int[] joinedRanks;
    private final RankProcesses processes;

    /** Creates the machines of a group whose ranks, in order, have the given numbers in the joined group. */
    public Machines(int self, int[] joinedRanks, RankProcesses processes) {
        this.self = self;
        this.joinedRanks = joinedRanks;
        this.processes = processes;
    }

    /** Returns this rank. */
    public int self() {
        return self;
    }

    /** Returns the numbers that the ranks of this group have in the joined group, in the order of this group. */
    public int[] joinedRanks() {
        return joinedRanks;
    }

    /** Returns the known processes of the ranks of the joined group. */
    public RankProcesses processes() {
        return processes;
    }

    /** Names a rank of this group as {@link #named(BitSet)} does. */
    public String named(int rank) {
        return named(Set.of(rank));
    }

    /**
     * Names ranks of this group for people. If the numbers of the ranks in the joined group are different, the text
     * also contains those numbers.
     *
     * @param ranks ranks of this group
     * @return for example {@code rank 1} or {@code ranks 1, 2 (ranks 2, 4 of "world")}
     */
    public String named(BitSet ranks) {
        return named(RankSetFormat.numbers(ranks));
    }

    /** Names ranks of this group as {@link #named(BitSet)} does. */
    public String named(Collection<Integer> ranks) {
        return named(ranks, joinedRanks, processes.group());
    }

    /** Names ranks of a group by their numbers in the group and in the joined group, whose name may be empty. */
    public static String named(Collection<Integer> ranks, int[] joinedRanks, String joined) {
        List<Integer> others = new ArrayList<>();
        for (int rank : ranks) {
            others.add(joinedRanks[rank]);
        }
        String name = RankSetFormat.ranks(ranks);
        boolean isSame = RankSetFormat.ranks(others).equals(name);
        return isSame || joined.isEmpty()
                ? name
                : name + " (" + RankSetFormat.ranks(others) + " of \"" + joined + "\")";
    }

    /**
     * Puts the name of a rank of a subgroup at the start of the message of a failure that a medium reports about this
     * rank. The name is added because the medium numbers the ranks of a subgroup differently. Failures in the joined
     * group, and failures that are not about the rank, are returned unchanged.
     */
    public FerroException named(int rank, FerroException cause) {
        boolean isOfPeer =
                cause.code() == Code.PEER_LOST || cause.code() == Code.PARTITION || cause.code() == Code.PROTOCOL;
        return isOfPeer && joinedRanks[rank] != rank && !processes.group().isEmpty()
                ? new FerroException(
                        cause.code(), cause.where(), named(rank) + ": " + cause.getMessage(), cause.getCause())
                : cause;
    }

    /** Returns the names of ranks of one process, with the host and the process id in parentheses. */
    public String ofOneProcess(BitSet ranks) {
        return joined(named(ranks), processes.placed(joinedRanks[ranks.nextSetBit(0)]));
    }

    private static String joined(String name, String process) {
        return name.endsWith(")") && !process.isEmpty()
                ? name.substring(0, name.length() - 1) + ", " + process.substring(" (".length())
                : name + process;
    }

    /** Returns the machines of this rank and the next ranks, at most {@code max} ranks, as of a separate group. */
    public Machines sample(int max) {
        int[] few = new int[Math.min(max, joinedRanks.length)];
        for (int rank = 0; rank < few.length; rank++) {
            few[rank] = joinedRanks[(self + rank) % joinedRanks.length];
        }
        return new Machines(0, few, processes);
    }

    /** Returns the name of a rank's machine, for people; empty if the machine is unknown or this rank's own. */
    public String away(int rank) {
        String machine = processes.machine(joinedRanks[rank]);
        return machine.equals(processes.machine(joinedRanks[self])) ? "" : machine;
    }

    /**
     * Returns all ranks of this group on another machine if a condition holds for each of them.
     *
     * @param rank      a rank on the other machine
     * @param condition condition that each rank of the machine has to fulfil
     * @return all ranks on the machine, at least two; empty if one of these ranks does not fulfil the condition, or if
     *     the machine is unknown or is the machine of this rank
     */
    public BitSet sharing(int rank, IntPredicate condition) {
        String machine = away(rank);
        BitSet there = new BitSet();
        for (int other = 0; other < joinedRanks.length && !machine.isEmpty(); other++) {
            if (away(other).equals(machine)) {
                if (!condition.test(other)) {
                    return new BitSet();
                }
                there.set(other);
            }
        }
        return there.cardinality() > 1 ? there : new BitSet();
    }

    /** Returns a text about a machine of which no rank answers. */
    public String silence(BitSet there) {
        return silence(away(there.nextSetBit(0)), named(there), there.cardinality() == 1);
    }

    /**
     * Returns a text about a machine of which none of the given ranks answers. {@code isOne} is true for a single rank.
     */
    public static String silence(String machine, String ranks, boolean isOne) {
        return machine + ": "
                + (isOne ? "its " + ranks + " does not answer" : "none of its " + ranks + " answers")
                + ": the network is cut or the machine is down";
    }
}
