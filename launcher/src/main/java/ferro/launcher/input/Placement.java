package ferro.launcher.input;

/**
 * The number of ranks that this launcher starts, the number of nodes, and the number of this node.
 *
 * @param ranksHere number of ranks on each node
 * @param nodes     number of nodes of the job, each with a launcher
 * @param nodeRank  number of this node, from 0
 */
public record Placement(int ranksHere, int nodes, int nodeRank) {
    /**
     * Largest number of ranks of a node. A larger number is a typing error, because each rank costs a process and three
     * launcher threads.
     */
    private static final int MOST_RANKS_HERE = 4096;

    /** Checks the numbers of ranks and nodes. */
    public Placement {
        if (ranksHere < 1 || ranksHere > MOST_RANKS_HERE) {
            throw new BadInputException("-n " + ranksHere + ": need a number of ranks from 1 to " + MOST_RANKS_HERE);
        }
        if (nodes < 1) {
            throw new BadInputException("--nodes " + nodes + ": need 1 host or more");
        }
        if (nodeRank < 0 || nodeRank >= nodes) {
            throw new BadInputException("--node-rank " + nodeRank + ": need a number from 0 to " + (nodes - 1)
                    + ", as --nodes is " + nodes);
        }
        if ((long) ranksHere * nodes > Integer.MAX_VALUE) {
            throw new BadInputException("-n " + ranksHere + " on --nodes " + nodes + ": too many ranks");
        }
    }

    /** Returns the number of ranks of the job. */
    public int worldSize() {
        return ranksHere * nodes;
    }

    /** Returns the lowest rank that this node starts. */
    public int firstRank() {
        return nodeRank * ranksHere;
    }

    /** Whether this launcher serves the store. */
    public boolean servesStore() {
        return nodeRank == 0;
    }

    @Override
    public String toString() {
        if (nodes == 1) {
            return ranksHere == 1 ? "1 rank" : ranksHere + " ranks";
        }
        int last = firstRank() + ranksHere - 1;
        return (ranksHere == 1 ? "rank " + last : "ranks " + firstRank() + " to " + last) + " of " + worldSize();
    }
}
