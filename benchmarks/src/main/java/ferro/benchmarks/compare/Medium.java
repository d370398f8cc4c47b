package ferro.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What carries the bytes between ranks, as names of contestants say it. */
enum Medium {
    SHARED_MEMORY,
    TCP;

    private static final String JAVA = "ferro";
    /** Runs of peers under other settings than their own; shown, but the best peer is one as its users get it. */
    private static final String SETTING = "-reno";

    static Medium of(String contestant) {
        return contestant.contains("-tcp") ? TCP : SHARED_MEMORY;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    static boolean ours(String contestant) {
        return contestant.startsWith(JAVA);
    }

    /** Returns those that a contestant's ratio to the best one looks at. */
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
