package ferro.control.membership;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** The machines of all ranks of a joined group, from the view of one rank that watches some of the ranks. */
final class JobMachines {
    private final PeerState[] peers;
    private final int self;
    private final IntFunction<String> machines;

    /** Creates the view of this rank from all peers by rank, and the name of each rank's machine, for people. */
    JobMachines(PeerState[] peers, int self, IntFunction<String> machines) {
        this.peers = peers;
        this.self = self;
        this.machines = machines;
    }

    String machine(int rank) {
        return machines.apply(rank);
    }

    /**
     * Returns the silent ranks of another machine if all remaining ranks of the machine that this rank watches are
     * silent.
     *
     * @param rank    one of the ranks of the machine
     * @param watched whether this rank watches a rank
     * @param silent  whether a watched rank is silent
     * @return at least two ranks; empty if a watched rank of the machine is not silent
     */
    BitSet silentWith(int rank, IntPredicate watched, IntPredicate silent) {
        String machine = machine(rank);
        BitSet there = new BitSet();
        for (PeerState peer : machine.isEmpty() || machine.equals(machine(self)) ? new PeerState[0] : peers) {
            if (!machine.equals(machine(peer.rank()))) {
                continue;
            }
            if (silent.test(peer.rank())) {
                there.set(peer.rank());
            } else if (!peer.isOver() && watched.test(peer.rank())) {
                return new BitSet();
            }
        }
        return there.cardinality() > 1 ? there : new BitSet();
    }

    /**
     * Returns the number of ranks of a machine that have not ended and that this rank does not watch. In a large group
     * other ranks watch the unwatched ranks.
     */
    int unwatchedOn(String machine, IntPredicate watched) {
        return (int) Arrays.stream(peers)
                .filter(peer -> machine.equals(machine(peer.rank())))
                .filter(peer -> !peer.isOver() && !watched.test(peer.rank()))
                .count();
    }
}
