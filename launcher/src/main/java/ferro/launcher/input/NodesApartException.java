package ferro.launcher.input;

/** The meeting of the launchers of a job has failed: no rank starts on any node. */
public final class NodesApartException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /**
     * Creates an exception with the reason, in the same words on all nodes that are there.
     *
     * @param text     which nodes, both values, and what to do
     * @param exitCode the same on all nodes
     */
    public NodesApartException(String text, int exitCode) {
        super(text);
        this.exitCode = exitCode;
    }

    /** {@return the exit code of the launcher} */
    public int exitCode() {
        return exitCode;
    }
}
