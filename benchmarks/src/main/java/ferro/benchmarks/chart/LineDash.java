package ferro.benchmarks.chart;

import java.util.Locale;

/** The medium of a line, which gives the line its dash. */
public enum LineDash {
    /** Memory that the ranks of a host share: a solid line. */
    SHARED_MEMORY,
    /** TCP without encryption: a dashed line. */
    TCP,
    /** TCP with encryption: a dotted line. */
    TLS;

    /** Returns the name of the dash in the theme. */
    String entry() {
        return "dash-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
