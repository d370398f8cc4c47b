package ferro.harness;

import java.util.Locale;

/** What carries the data between ranks of one JVM. */
public enum Medium {
    SIMULATED,
    TCP,
    SHM;

    public static Medium of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }

    /** Returns it as {@code ferro.links} has it, or {@code simulated}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Fails unless the ranks of a group have found it, as their report of links says. */
    void assertFoundIn(String report, int worldSize) {
        boolean found = this == SIMULATED
                || worldSize == 1
                || (this == SHM
                        ? report.equals("all " + worldSize + " ranks share memory")
                        : report.endsWith(" do not share memory: ferro.links=tcp") && !report.contains("with TLS"));
        if (!found) {
            throw new AssertionError("data is not carried over " + this + ": " + report);
        }
    }
}
