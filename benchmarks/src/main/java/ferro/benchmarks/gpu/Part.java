package ferro.benchmarks.gpu;

import java.util.Locale;

/** A part of the report, in processes of its own: what goes wrong in one touches no other. */
enum Part {
    AVAILABILITY("What is here", 1, true),
    COLLECTIVES("One rank: every collective and type against the host", 1, true),
    STREAMS("One rank: streams and events", 1, true),
    FAULTS("One rank: errors, out of memory, abort", 1, true),
    SPEED("One rank: speed", 1, true),
    ROUND_TRIP("One rank over host memory", 1, false),
    PAIR_COLLECTIVES("Two ranks: every collective and type against the host", 2, true),
    PAIR_ABORT("Two ranks: abort", 2, true),
    PAIR_KILL("Two ranks: one is killed", 2, true),
    PAIR_ROUND_TRIP("Two ranks over host memory", 2, false);

    private final String title;
    private final int ranks;
    private final boolean overNccl;

    Part(String title, int ranks, boolean overNccl) {
        this.title = title;
        this.ranks = ranks;
        this.overNccl = overNccl;
    }

    String title() {
        return title;
    }

    int ranks() {
        return ranks;
    }

    /** Whether the ranks join by NCCL; else by TCP, with the gate of the round trip open. */
    boolean overNccl() {
        return overNccl;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Part parse(String label) {
        for (Part part : values()) {
            if (part.label().equals(label)) {
                return part;
            }
        }
        throw new IllegalArgumentException("no part \"" + label + "\" of the report");
    }
}
