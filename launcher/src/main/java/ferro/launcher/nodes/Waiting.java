package ferro.launcher.nodes;

import ferro.launcher.input.NodesApartException;
import java.util.Set;

/** Callbacks of a launcher that waits for the others. */
@FunctionalInterface
public interface Waiting {
    /**
     * Called with the nodes that are missing.
     *
     * @param nodes nodes that have not come; only the launcher of node 0 knows them, the set is empty on other nodes
     */
    void missing(Set<Integer> nodes);

    /**
     * {@return the times of this wait, by which the next call of {@link #missing} is due. A launcher that has already
     * waited for the store passes the times of that wait, so that both waits together keep the distance of the lines}
     */
    default LineTimes lines() {
        return new LineTimes(System::nanoTime);
    }

    /**
     * Called if the job has started and another launcher has the place of this node. This launcher waits for the place in the
     * next generation.
     *
     * @param holder the other launcher
     */
    default void held(NodeCard holder) {}

    /**
     * Called on node 0 for a process that was refused. It need not belong to this job, and the wait goes on.
     *
     * @param text which process it was, and what it was told, with both values
     */
    default void refused(String text) {}

    /** {@return what all nodes print on an interrupt: text that follows this node's name, and the exit code of all} */
    default NodesApartException interrupted() {
        return new NodesApartException("was ended before a rank was started", 1);
    }
}
