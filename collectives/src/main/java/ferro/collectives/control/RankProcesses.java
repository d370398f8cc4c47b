package ferro.collectives.control;

import java.util.BitSet;

/** Which ranks of a joined group are of one process, as far as they have said so; thread-safe. */
public interface RankProcesses {
    /** Knows no process: every rank is alone in its own. */
    RankProcesses UNKNOWN = new RankProcesses() {
        @Override
        public BitSet sharing(int rank) {
            BitSet alone = new BitSet();
            alone.set(rank);
            return alone;
        }

        @Override
        public String placed(int rank) {
            return "";
        }
    };

    /**
     * Returns the ranks of a rank's process.
     *
     * @param rank of the joined group
     * @return ranks of the joined group, this one among them
     */
    BitSet sharing(int rank);

    /**
     * Returns what people call a rank's process.
     *
     * @param rank of the joined group
     * @return for example {@code " (pid 4711 on host box)"}; empty if it is unknown
     */
    String placed(int rank);

    /**
     * Returns what people call the machine that a rank is on; equal for ranks of one machine.
     *
     * @param rank of the joined group
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if it is unknown
     */
    default String machine(int rank) {
        return "";
    }
}
