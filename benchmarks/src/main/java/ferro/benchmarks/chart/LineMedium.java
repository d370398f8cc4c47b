package ferro.benchmarks.chart;

import java.util.Locale;

/** The medium of the data that a line shows. The medium determines the dash of the line. */
public enum LineMedium {
    /** Memory that the ranks of a host share, drawn as a solid line. */
    SHARED_MEMORY,
    /** TCP without encryption, drawn as a dashed line. */
    TCP,
    /** TCP with encryption, drawn as a dotted line. */
    TLS;

    /** Returns the name of the dash in the theme. */
    String entry() {
        return "dash-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
