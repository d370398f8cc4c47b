package ferro.control.failure;

import java.util.BitSet;

/** The processes of the ranks of a joined group, as far as the ranks have reported them; thread-safe. */
public interface RankProcesses {
    /** Knows no process: treats every rank as alone in its own. */
    RankProcesses UNKNOWN = new RankProcesses() {};

    /** Returns the name of the joined group; empty if it is unknown. */
    default String group() {
        return "";
    }

    /** Returns whether ranks can be asked for their state; false for a medium without control messages. */
    default boolean answer() {
        return true;
    }

    /** Returns the ranks of the process of a rank. */
    default BitSet sharing(int rank) {
        BitSet alone = new BitSet();
        alone.set(rank);
        return alone;
    }

    /**
     * Returns the name of a rank's process, for people.
     *
     * @param rank of the joined group
     * @return for example {@code " (pid 4711 on host box)"}; empty if it is unknown
     */
    default String placed(int rank) {
        return "";
    }

    /**
     * Returns the name of a rank's machine, for people; equal for ranks of one machine.
     *
     * @param rank of the joined group
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if it is unknown
     */
    default String machine(int rank) {
        return "";
    }
}
