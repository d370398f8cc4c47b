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
     * Returns what all nodes say if the wait is interrupted.
     *
     * @return text that follows the name of this node, and the exit code of all
     */
    default NodesApartException interrupted() {
        return new NodesApartException("was ended before a rank was started", 1);
    }
}
