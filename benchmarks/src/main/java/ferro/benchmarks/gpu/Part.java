package ferro.benchmarks.gpu;

import java.util.Locale;

/** A part of the report, in processes of its own: what goes wrong in one touches no other. */
enum Part {
    AVAILABILITY("What is here", 1, Part.NCCL),
    COLLECTIVES("One rank: every collective and type against the host", 1, Part.NCCL),
    STREAMS("One rank: streams and events", 1, Part.NCCL),
    FAULTS("One rank: errors, out of memory, abort", 1, Part.NCCL),
    SPEED("One rank: speed", 1, Part.NCCL),
    ROUND_TRIP("One rank over host memory", 1, Part.HOST),
    PAIR_COLLECTIVES("Two ranks: every collective and type against the host, groups", 2, Part.NCCL),
    PAIR_ABORT("Two ranks: abort", 2, Part.NCCL),
    PAIR_KILL("Two ranks: one is killed", 2, Part.NCCL),
    PAIR_LATE("Two ranks: one does not call", 2, Part.NCCL),
    PAIR_MISMATCH("Two ranks: calls that differ", 2, Part.NCCL),
    PAIR_BESIDE_TCP("Two ranks, TCP beside NCCL: both kinds of tensors, one is killed", 2, Part.BOTH),
    PAIR_ROUND_TRIP("Two ranks over host memory", 2, Part.HOST);

    private static final String NCCL = "nccl";
    private static final String BOTH = "cpu:tcp,cuda:nccl";
    /** With the gate of the round trip open. */
    private static final String HOST = "tcp";

    private final String title;
    private final int ranks;
    private final String backend;

    Part(String title, int ranks, String backend) {
        this.title = title;
        this.ranks = ranks;
        this.backend = backend;
    }

    String title() {
        return title;
    }

    int ranks() {
        return ranks;
    }

    /** What the ranks join by. */
    String backend() {
        return backend;
    }

    /** Whether device tensors go through host memory. */
    boolean overHost() {
        return backend.equals(HOST);
    }

    /** Whether rank 1 is killed once it says that it is ready. */
    boolean kills() {
        return this == PAIR_KILL || this == PAIR_BESIDE_TCP;
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
