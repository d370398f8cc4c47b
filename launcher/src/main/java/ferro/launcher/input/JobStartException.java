package ferro.launcher.input;

/** The exception for launchers that have failed to start a job together. No rank starts on any node. */
public final class JobStartException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /**
     * Creates an exception with a reason. All launchers that have connected give the same reason.
     *
     * @param text     text with the nodes, both values, and what to do
     * @param exitCode exit code of all launchers
     */
    public JobStartException(String text, int exitCode) {
        super(text);
        this.exitCode = exitCode;
    }

    /** {@return the exit code of the launcher} */
    public int exitCode() {
        return exitCode;
    }
}
