package ferro.benchmarks.compare;

import ferro.benchmarks.chart.LineDash;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The medium between ranks, derived from the name of a contestant. */
enum MediumName {
    SHARED_MEMORY,
    TCP;

    private static final String JAVA = "ferro";
    /**
     * Suffix of peers that do not run with their default settings. Such peers are shown, but none of them counts as the
     * best peer, because the best peer runs as its users get it.
     */
    private static final String SETTING = "-reno";

    static MediumName of(String contestant) {
        return contestant.contains("-tcp") ? TCP : SHARED_MEMORY;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns the name for the text of a chart. */
    String words() {
        return this == TCP ? "TCP" : "shared memory";
    }

    /** Returns the medium that gives lines their dash. */
    LineDash dash() {
        return this == TCP ? LineDash.TCP : LineDash.SHARED_MEMORY;
    }

    static boolean ours(String contestant) {
        return contestant.startsWith(JAVA);
    }

    /** Returns the peers among which the best one for a contestant's ratio is chosen. */
    static List<String> peers(String contestant, Iterable<String> all) {
        List<String> peers = new ArrayList<>();
        for (String name : all) {
            if (!ours(name) && of(name) == of(contestant) && !name.endsWith(SETTING)) {
                peers.add(name);
            }
        }
        return peers;
    }
}
