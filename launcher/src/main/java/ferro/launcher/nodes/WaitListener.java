package ferro.launcher.nodes;

import ferro.launcher.input.JobStartException;
import java.util.Set;

/** The callbacks of a launcher that waits for the other launchers. */
@FunctionalInterface
public interface WaitListener {
    /**
     * Reports the nodes that are missing.
     *
     * @param nodes nodes whose launchers have not connected; always empty on other nodes than node 0
     */
    void missing(Set<Integer> nodes);

    /**
     * {@return the times at which {@link #missing} is called. A launcher that has already waited for the store returns
     * the times of its first wait, so that the distance between printed lines stays the same}
     */
    default PrintSchedule lines() {
        return new PrintSchedule(System::nanoTime);
    }

    /**
     * Reports that the job has started and that another launcher holds the slot of this node. This launcher waits for
     * the next generation.
     *
     * @param holder the other launcher
     */
    default void held(LauncherEntry holder) {}

    /**
     * Reports, on node 0, that a process was refused. The process may belong to another job, so the wait continues.
     *
     * @param text text about the refused process and the answer that the process received, with both values
     */
    default void refused(String text) {}

    /** {@return the failure after an interrupt: text that follows this node's name on all nodes, and the exit code} */
    default JobStartException interrupted() {
        return new JobStartException("was ended before a rank was started", 1);
    }
}
