package ferro.benchmarks.compare;

import ferro.benchmarks.chart.LineMedium;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The medium between ranks. The name of a contestant determines the medium. */
enum TransportMedium {
    SHARED_MEMORY,
    TCP;

    private static final String JAVA = "ferro";
    /**
     * Suffix of the names of peers that do not run with their default settings. Peers with this suffix are shown, but
     * never count as the best peer, because the best peer runs with the settings that its users get.
     */
    private static final String SETTING = "-reno";

    static TransportMedium of(String contestant) {
        return contestant.contains("-tcp") ? TCP : SHARED_MEMORY;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns the name of the medium for the text of a chart. */
    String words() {
        return this == TCP ? "TCP" : "shared memory";
    }

    /** Returns the dash of lines that show this medium. */
    LineMedium dash() {
        return this == TCP ? LineMedium.TCP : LineMedium.SHARED_MEMORY;
    }

    static boolean ours(String contestant) {
        return contestant.startsWith(JAVA);
    }

    /** Returns the peers of a contestant. The ratio of the contestant is computed with the best of these peers. */
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
