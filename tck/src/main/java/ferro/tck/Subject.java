package ferro.tck;

/** What the rules know of the back end under test: groups of it, and what it says that it cannot do. */
public interface Subject {
    /**
     * Makes a fresh group.
     *
     * @param worldSize number of ranks
     * @return its ranks; close them
     */
    Ranks group(int worldSize);

    /**
     * Returns whether a refusal is declared.
     *
     * @param capability for example {@code subgroups}
     * @return true if the back end may refuse it
     */
    boolean refuses(String capability);

    /**
     * Skips the running test if its back end declares that it cannot do this; counts the refusal.
     *
     * @param capability for example {@code subgroups}
     */
    void needs(String capability);

    /**
     * Counts a cell that the back end refused.
     *
     * @param what type, op or form
     */
    void refused(String what);
}
