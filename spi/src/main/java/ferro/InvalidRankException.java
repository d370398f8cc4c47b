package ferro;

/** Thrown if a root, source or destination is not a rank of the group, before any data moves. */
public final class InvalidRankException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** Rank that is outside the group. */
    private final int rank;
    /** Number of ranks of the group. */
    private final int worldSize;

    /**
     * Creates the exception.
     *
     * @param rank      rank that was given
     * @param worldSize number of ranks of the group
     */
    public InvalidRankException(int rank, int worldSize) {
        this("rank " + rank + " is not in a group of world size " + worldSize, rank, worldSize);
    }

    /**
     * Creates the exception with a given message.
     *
     * @param what      message that describes the error, with the rank and the number of ranks
     * @param rank      rank that was given
     * @param worldSize number of ranks of the group
     */
    public InvalidRankException(String what, int rank, int worldSize) {
        super(what + ": ranks go from 0 to " + (worldSize - 1));
        this.rank = rank;
        this.worldSize = worldSize;
    }

    /**
     * Checks a rank.
     *
     * @param rank      rank to check
     * @param worldSize number of ranks of the group
     * @return {@code rank}
     * @throws InvalidRankException if the rank is negative or not below {@code worldSize}
     */
    public static int check(int rank, int worldSize) {
        if (rank < 0 || rank >= worldSize) {
            throw new InvalidRankException(rank, worldSize);
        }
        return rank;
    }

    /**
     * Checks the rank that a parameter of a call contains.
     *
     * @param call      name of the call, such as {@code broadcast}
     * @param parameter name of the parameter, such as {@code root}
     * @param rank      rank to check
     * @param worldSize number of ranks of the group
     * @return {@code rank}
     * @throws InvalidRankException if the rank is negative or not below {@code worldSize}; the message names the call
     *     and the parameter
     */
    public static int check(String call, String parameter, int rank, int worldSize) {
        if (rank < 0 || rank >= worldSize) {
            String what = call + ": " + parameter + " " + rank + " is not in a group of world size " + worldSize;
            throw new InvalidRankException(what, rank, worldSize);
        }
        return rank;
    }

    /** {@return the rank that was given} */
    public int rank() {
        return rank;
    }

    /** {@return the number of ranks of the group} */
    public int worldSize() {
        return worldSize;
    }
}
