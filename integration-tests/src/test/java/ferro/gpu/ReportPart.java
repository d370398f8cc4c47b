package ferro.gpu;

import java.util.Locale;

/** A part of the report. It runs in processes of its own, so that a failure in one part does not affect another. */
enum ReportPart {
    AVAILABILITY("What is here", 1, ReportPart.NCCL),
    COLLECTIVES("One rank: the rules of the kit on device memory", 1, ReportPart.NCCL),
    STREAMS("One rank: streams and events", 1, ReportPart.NCCL),
    FAULTS("One rank: errors, out of memory, abort", 1, ReportPart.NCCL),
    SPEED("One rank: speed", 1, ReportPart.NCCL),
    ROUND_TRIP("One rank over host memory", 1, ReportPart.HOST),
    PAIR_COLLECTIVES("Two ranks: the rules of the kit on device memory, groups", 2, ReportPart.NCCL),
    PAIR_ABORT("Two ranks: abort", 2, ReportPart.NCCL),
    PAIR_KILL("Two ranks: one is killed", 2, ReportPart.NCCL),
    PAIR_LATE("Two ranks: one does not call", 2, ReportPart.NCCL),
    PAIR_MISMATCH("Two ranks: calls that differ", 2, ReportPart.NCCL),
    PAIR_BESIDE_TCP("Two ranks, TCP beside NCCL: both kinds of tensors, one is killed", 2, ReportPart.BOTH),
    PAIR_ROUND_TRIP("Two ranks over host memory", 2, ReportPart.HOST);

    private static final String NCCL = "nccl";
    private static final String BOTH = "cpu:tcp,cuda:nccl";
    /** Used with the round trip through host memory enabled. */
    private static final String HOST = "tcp";

    private final String title;
    private final int ranks;
    private final String backend;

    ReportPart(String title, int ranks, String backend) {
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

    String backend() {
        return backend;
    }

    boolean overHost() {
        return backend.equals(HOST);
    }

    /** Whether rank 1 is killed once it prints that it is ready. */
    boolean kills() {
        return this == PAIR_KILL || this == PAIR_BESIDE_TCP;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static ReportPart parse(String label) {
        for (ReportPart part : values()) {
            if (part.label().equals(label)) {
                return part;
            }
        }
        throw new IllegalArgumentException("no part \"" + label + "\" of the report");
    }
}
