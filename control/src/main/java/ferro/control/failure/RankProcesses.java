package ferro.control.failure;

import java.util.BitSet;

/** The processes of the ranks of a joined group. Each rank reports its process. Thread-safe. */
public interface RankProcesses {
    /** An implementation without reports, for which every rank is alone in its process. */
    RankProcesses UNKNOWN = new RankProcesses() {};

    /** Returns the name of the joined group, or an empty text if the name is unknown. */
    default String group() {
        return "";
    }

    /** Returns whether ranks can answer a question about their state. False for a medium without control messages. */
    default boolean answer() {
        return true;
    }

    /** Returns the given rank and all ranks that run in the same process as the given rank. */
    default BitSet sharing(int rank) {
        BitSet alone = new BitSet();
        alone.set(rank);
        return alone;
    }

    /**
     * Returns the process of a rank, for people.
     *
     * @param rank rank of the joined group
     * @return for example {@code " (pid 4711 on host box)"}; empty if the process is unknown
     */
    default String placed(int rank) {
        return "";
    }

    /**
     * Returns the name of a rank's machine, for people. Ranks of one machine have the same name.
     *
     * @param rank rank of the joined group
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if the machine is unknown
     */
    default String machine(int rank) {
        return "";
    }
}
