package ferro.collectives.algorithm;

import ferro.CollectiveKind;
import ferro.collectives.plan.Plan;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which algorithm an operation uses, and how its plans are made; immutable, any thread may use it.
 *
 * <p>The choice may look only at what is equal on every rank: kind, world size and a byte count. All ranks have the same
 * table; overrides must be equal on all ranks, and are found out as a mismatch where they are not.
 */
public final class AlgorithmTable {
    private static final Map<CollectiveKind, Map<String, Algorithm>> ALGORITHMS = Map.of(
            CollectiveKind.ALL_REDUCE,
            rows(
                    new Row("ring", rootless(RingAllReduce::plan)),
                    new Row("recursiveDoubling", rootless(RecursiveDoublingAllReduce::plan)),
                    new Row("halvingDoubling", rootless(HalvingDoublingAllReduce::plan))),
            CollectiveKind.BROADCAST,
            rows(new Row("binomial", BinomialBroadcast::plan), new Row("direct", DirectBroadcast::plan)),
            CollectiveKind.REDUCE,
            rows(new Row("binomial", BinomialReduce::plan), new Row("direct", DirectReduce::plan)),
            CollectiveKind.ALL_GATHER,
            rows(
                    new Row("ring", rootless(RingAllGather::plan)),
                    new Row("direct", rootless(DirectAllGather::plan)),
                    new Row("recursiveDoubling", rootless(RecursiveDoublingAllGather::plan))),
            CollectiveKind.REDUCE_SCATTER,
            rows(
                    new Row("direct", rootless(DirectReduceScatter::plan)),
                    new Row("ring", rootless(RingReduceScatter::plan))),
            CollectiveKind.GATHER,
            rows(new Row("binomial", BinomialGather::plan), new Row("direct", DirectGather::plan)),
            CollectiveKind.SCATTER,
            rows(new Row("binomial", BinomialScatter::plan), new Row("direct", DirectScatter::plan)),
            CollectiveKind.ALL_TO_ALL,
            rows(
                    new Row("pairwise", rootless(PairwiseAllToAll::plan)),
                    new Row("bruck", rootless(BruckAllToAll::plan))),
            CollectiveKind.BARRIER,
            rows(new Row("dissemination", rootless(DisseminationBarrier::plan))));

    private static final long KIB = 1024;

    private final Map<CollectiveKind, String> overrides;
    private final TunedRows tuned;
    private final boolean far;

    private AlgorithmTable(Map<CollectiveKind, String> overrides, TunedRows tuned, boolean far) {
        this.overrides = Map.copyOf(overrides);
        this.tuned = tuned;
        this.far = far;
    }

    /** Makes the plan of one rank. */
    @FunctionalInterface
    private interface Algorithm {
        Plan plan(int rank, int size, int root);
    }

    /** An algorithm and its name. */
    private record Row(String name, Algorithm algorithm) {}

    /** An algorithm without a root. */
    @FunctionalInterface
    private interface Rootless {
        Plan plan(int rank, int size);
    }

    /**
     * Returns a table.
     *
     * @param overrides what the setting {@code ferro.algorithm} says, for example
     *     {@code allReduce=ring,broadcast=binomial}; empty for none
     * @return table that prefers those
     * @throws IllegalArgumentException listing what exists if a kind or an algorithm does not
     */
    public static AlgorithmTable of(String overrides) {
        Map<CollectiveKind, String> wanted = new EnumMap<>(CollectiveKind.class);
        for (String entry : overrides.split(",")) {
            if (entry.isBlank()) {
                continue;
            }
            String[] sides = entry.split("=", 2);
            if (sides.length < 2) {
                throw new IllegalArgumentException(
                        "ferro.algorithm has \"" + entry.strip() + "\": need kind=algorithm, as allReduce=ring");
            }
            CollectiveKind kind = CollectiveKind.parse(sides[0].strip());
            wanted.put(kind, named(kind, sides[1].strip()));
        }
        return new AlgorithmTable(wanted, TunedRows.NONE, false);
    }

    /**
     * Returns the same with a table that was measured, which overrides stand above.
     *
     * @param rows measured
     * @return table
     */
    public AlgorithmTable with(TunedRows rows) {
        return new AlgorithmTable(overrides, rows, far);
    }

    /**
     * Returns the same for ranks between which a step costs more than some hundred KiB do.
     *
     * @param areFar equal on all ranks ({@link ferro.Medium#far})
     * @return table
     */
    public AlgorithmTable far(boolean areFar) {
        return new AlgorithmTable(overrides, tuned, areFar);
    }

    boolean isFar() {
        return far;
    }

    /**
     * Returns the table that was measured.
     *
     * @return none if there is none
     */
    public TunedRows tuned() {
        return tuned;
    }

    /**
     * Returns the algorithm for an operation.
     *
     * @param kind      as {@link ferro.Collective#kind}
     * @param worldSize ranks
     * @param bytes     size of the operation, the same number on all ranks
     * @return its name
     */
    public String algorithm(CollectiveKind kind, int worldSize, long bytes) {
        String wanted = overrides.get(kind);
        if (wanted != null) {
            return wanted;
        }
        return tuned.algorithm(kind, worldSize, bytes, algorithms(kind))
                .orElseGet(() -> builtIn(kind, worldSize, bytes));
    }

    private String builtIn(CollectiveKind kind, int worldSize, long bytes) {
        return switch (kind) {
            case ALL_REDUCE -> allReduce(worldSize, bytes);
            case ALL_GATHER -> worldSize <= 2 || bytes <= (far ? 1024 : 64) * KIB ? "direct" : "ring";
            case REDUCE_SCATTER -> "direct";
            case BROADCAST, REDUCE -> worldSize <= 2 ? "direct" : "binomial";
            case GATHER, SCATTER -> worldSize <= 8 || bytes > 64 * KIB ? "direct" : "binomial";
            default -> algorithms(kind).get(0);
        };
    }

    /**
     * Returns whether the table may choose for operations of a kind.
     *
     * @param kind as {@link ferro.Collective#kind}
     * @return false if an override names an algorithm
     */
    public boolean isFree(CollectiveKind kind) {
        return !overrides.containsKey(kind);
    }

    /**
     * Returns the algorithm for an operation whose parts have lengths of their own.
     *
     * @param kind      as {@link ferro.Collective#kind}
     * @param worldSize ranks
     * @param bytes     size of the operation; of an all-to-all every rank has another one, which is not looked at
     * @return its name
     */
    public String algorithmOfParts(CollectiveKind kind, int worldSize, long bytes) {
        return kind == CollectiveKind.ALL_TO_ALL ? "pairwise" : algorithm(kind, worldSize, bytes);
    }

    /**
     * Makes the plan of one rank.
     *
     * @param kind      as {@link ferro.Collective#kind}
     * @param algorithm one of {@link #algorithms}
     * @param rank      this rank
     * @param worldSize ranks
     * @param root      the operation's root; ignored where it has none
     * @return plan
     * @throws IllegalArgumentException listing what exists if the algorithm does not
     */
    public Plan plan(CollectiveKind kind, String algorithm, int rank, int worldSize, int root) {
        return ALGORITHMS.get(kind).get(named(kind, algorithm)).plan(rank, worldSize, root);
    }

    /**
     * Lists the algorithms of a kind.
     *
     * @param kind as {@link ferro.Collective#kind}
     * @return names, at least one
     */
    public static List<String> algorithms(CollectiveKind kind) {
        return List.copyOf(ALGORITHMS.get(kind).keySet());
    }

    /**
     * Two ranks exchange once up to 32 KiB; above, two halves at a time. More ranks: few steps for small, few bytes for
     * large. Far from each other, few steps count longer.
     */
    private String allReduce(int worldSize, long bytes) {
        long wholeMost = far ? wholeFar(worldSize) : (worldSize <= 2 ? 32 : 64) * KIB;
        if (bytes <= wholeMost) {
            return "recursiveDoubling";
        }
        boolean powerOfTwo = Integer.bitCount(worldSize) == 1;
        return worldSize > 2 && powerOfTwo && bytes <= (far ? 4096 : 1024) * KIB ? "halvingDoubling" : "ring";
    }

    /** Up to how many bytes far ones exchange the whole: two send as much either way, more of them more than in parts. */
    static long wholeFar(int count) {
        return (count <= 2 ? 1024 : 256) * KIB;
    }

    private static String named(CollectiveKind kind, String algorithm) {
        if (!ALGORITHMS.get(kind).containsKey(algorithm)) {
            throw new IllegalArgumentException(
                    "no algorithm \"" + algorithm + "\" for " + kind + ": use one of " + algorithms(kind));
        }
        return algorithm;
    }

    private static Algorithm rootless(Rootless algorithm) {
        return (rank, size, root) -> algorithm.plan(rank, size);
    }

    private static Map<String, Algorithm> rows(Row... rows) {
        Map<String, Algorithm> byName = new LinkedHashMap<>();
        for (Row row : rows) {
            byName.put(row.name, row.algorithm);
        }
        return byName;
    }
}
