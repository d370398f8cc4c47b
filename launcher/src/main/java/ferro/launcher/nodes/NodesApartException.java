package ferro.launcher.nodes;

/** The launchers of a job do not come together: no rank starts on any node. */
public final class NodesApartException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /**
     * Says why, in the same words on all nodes that are there.
     *
     * @param text     which nodes, both values, and the way out
     * @param exitCode the same on all nodes
     */
    public NodesApartException(String text, int exitCode) {
        super(text);
        this.exitCode = exitCode;
    }

    /**
     * Returns what the launcher ends with.
     *
     * @return exit code
     */
    public int exitCode() {
        return exitCode;
    }
}
