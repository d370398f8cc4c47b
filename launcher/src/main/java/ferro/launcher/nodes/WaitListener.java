package ferro.launcher.nodes;

import ferro.launcher.input.NodesApartException;
import java.util.Set;

/** Callbacks of a launcher that waits for the other launchers. */
@FunctionalInterface
public interface WaitListener {
    /**
     * Called with the nodes that are missing.
     *
     * @param nodes nodes whose launchers have not connected; always empty on other nodes than node 0
     */
    void missing(Set<Integer> nodes);

    /**
     * {@return the times at which {@link #missing} is called. A launcher that has already waited for the store passes
     * the times of that wait, so that the distance between lines stays the same}
     */
    default LineTimes lines() {
        return new LineTimes(System::nanoTime);
    }

    /**
     * Called if the job has started and another launcher holds the slot of this node. This launcher waits for the next
     * generation.
     *
     * @param holder the other launcher
     */
    default void held(NodeCard holder) {}

    /**
     * Called on node 0 for a process that was refused. The process may belong to another job, so the wait continues.
     *
     * @param text which process was refused, and the answer that it received, with both values
     */
    default void refused(String text) {}

    /** {@return what all nodes print on an interrupt: text after the name of this node, and the exit code} */
    default NodesApartException interrupted() {
        return new NodesApartException("was ended before a rank was started", 1);
    }
}
