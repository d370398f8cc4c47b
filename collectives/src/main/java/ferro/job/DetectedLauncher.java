package ferro.job;

/** A launcher whose variables are set in the environment of this process. */
public final class DetectedLauncher {
    private final LauncherFields launcher;

    private record LauncherFields(LauncherKind family, String variables, boolean complete, String verdict) {}

    DetectedLauncher(LauncherKind family, String variables, boolean complete, String verdict) {
        launcher = new LauncherFields(family, variables, complete, verdict);
    }

    /** {@return the launcher that set the variables} */
    public LauncherKind family() {
        return launcher.family;
    }

    /** {@return the variables that give the rank of this process, as {@code NAME=value}} */
    public String variables() {
        return launcher.variables;
    }

    /**
     * {@return whether the variables give the rank of this process; the variables of an allocation without a task do
     * not give the rank}
     */
    public boolean complete() {
        return launcher.complete;
    }

    /** {@return {@code chosen}, or the reason why the launcher is not chosen} */
    public String verdict() {
        return launcher.verdict;
    }

    @Override
    public String toString() {
        return "Detected" + launcher;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DetectedLauncher that && launcher.equals(that.launcher);
    }

    @Override
    public int hashCode() {
        return launcher.hashCode();
    }
}
