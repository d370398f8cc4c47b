package ferro.collectives.control;

import java.util.BitSet;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** The machines of all ranks of a joined group, as a rank that watches some of them sees them. */
final class Fleet {
    private final Peer[] peers;
    private final int self;
    private final IntFunction<String> machines;

    /** Takes all peers by rank, this rank, and what people call the machine of a rank. */
    Fleet(Peer[] peers, int self, IntFunction<String> machines) {
        this.peers = peers;
        this.self = self;
        this.machines = machines;
    }

    String machine(int rank) {
        return machines.apply(rank);
    }

    /**
     * Returns the silent ranks of another machine where all that are left of it are silent.
     *
     * @param rank   one of them
     * @param silent whether a rank is watched from here and silent
     * @return two ranks at least; empty where one is not silent, or not watched
     */
    BitSet silentWith(int rank, IntPredicate silent) {
        String machine = machine(rank);
        BitSet there = new BitSet();
        for (Peer peer : machine.isEmpty() || machine.equals(machine(self)) ? new Peer[0] : peers) {
            if (!machine.equals(machine(peer.rank()))) {
                continue;
            }
            if (silent.test(peer.rank())) {
                there.set(peer.rank());
            } else if (!peer.isOver()) {
                return new BitSet();
            }
        }
        return there.cardinality() > 1 ? there : new BitSet();
    }
}
