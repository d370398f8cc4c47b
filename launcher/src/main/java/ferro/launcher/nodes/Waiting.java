package ferro.launcher.nodes;

import java.util.Set;

/** What a launcher does while it waits for the others. */
@FunctionalInterface
public interface Waiting {
    /**
     * Says who is missing.
     *
     * @param nodes that have not come; only the launcher of node 0 knows them, others are told of none
     */
    void missing(Set<Integer> nodes);

    /**
     * Hears on node 0 of a process that was refused, and need not be of this job, which goes on waiting.
     *
     * @param text who it was, and what it was told, with both values
     */
    default void refused(String text) {}

    /**
     * Returns what all nodes say if the wait is interrupted.
     *
     * @return text that follows the name of this node, and the exit code of all
     */
    default NodesApartException interrupted() {
        return new NodesApartException("was ended before a rank was started", 1);
    }
}
