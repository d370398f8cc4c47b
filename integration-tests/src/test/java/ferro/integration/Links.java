package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What carries the data between ranks of one host, as a test asks for it; where nobody asks, it is shared memory. */
public enum Links {
    TCP,
    SHM,
    /** TCP with everything encrypted, which wants a secret. */
    TLS;

    public static List<Links> measured() {
        return List.of(TCP, SHM);
    }

    /** Returns the settings that ask for it: {@code ferro.links}, {@code ferro.tls}. */
    public Map<String, String> settings() {
        return this == TLS ? Map.of("ferro.links", "tcp", "ferro.tls", "on") : Map.of("ferro.links", toString());
    }

    /** Fails unless the ranks of a group, who all ask for it, have found it, as their report of links says. */
    public void assertFoundIn(String linkReport, int worldSize) {
        boolean found = this == SHM
                ? linkReport.equals("all " + worldSize + " ranks share memory")
                : linkReport.endsWith(" do not share memory: ferro.links=tcp")
                        && linkReport.contains("with TLS") == (this == TLS);
        assertTrue(found, () -> "data is not carried over " + this + ": " + linkReport);
    }

    /** Returns it as {@code ferro.links} has it, or {@code tls}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
