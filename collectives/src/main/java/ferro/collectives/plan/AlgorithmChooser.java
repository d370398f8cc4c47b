package ferro.collectives.plan;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import java.util.EnumMap;
import java.util.Map;

/**
 * The rules that choose the algorithm of an operation. Immutable and thread-safe.
 *
 * <p>The choice uses only values that are equal on every rank: kind, world size, hosts and a byte count. So all ranks
 * choose the same algorithm. Overrides must be equal on all ranks. A difference is detected as a mismatch.
 */
public final class AlgorithmChooser {
    private static final long KIB = 1024;
    /**
     * Maximum size up to which every rank in shared memory reads all data of the other ranks. Above this size, each
     * rank reduces one part.
     */
    private static final long MAX_READ_ALL_BYTES = 4 * KIB;

    private final Map<CollectiveKind, Algorithm> overrides;
    private final boolean far;

    private AlgorithmChooser(Map<CollectiveKind, Algorithm> overrides, boolean far) {
        this.overrides = Map.copyOf(overrides);
        this.far = far;
    }

    /**
     * The values that decide the choice, the same on all ranks.
     *
     * @param hosts     number of hosts if the topology is {@link Topology#HOSTS}, else any number
     * @param bytes     size of the operation
     * @param slotBytes maximum number of bytes that are staged at once if ranks share memory, else any number
     */
    public record ChoiceInputs(CollectiveKind kind, int worldSize, int hosts, long bytes, long slotBytes) {
        /** Makes the values for a group in which all ranks send messages to each other. */
        public ChoiceInputs(CollectiveKind kind, int worldSize, long bytes) {
            this(kind, worldSize, worldSize, bytes, 0);
        }

        private ChoiceInputs of(CollectiveKind other) {
            return new ChoiceInputs(other, worldSize, hosts, bytes, slotBytes);
        }
    }

    /**
     * Returns a choice with overrides. The parameter is the value of the setting {@code ferro.algorithm}, for example
     * {@code allReduce=ring,broadcast=binomial}; empty for no overrides. If a kind or an algorithm does not exist, the
     * message of the exception lists the existing names.
     */
    public static AlgorithmChooser of(String overrides) {
        Map<CollectiveKind, Algorithm> wanted = new EnumMap<>(CollectiveKind.class);
        for (String entry : overrides.split(",")) {
            if (entry.isBlank()) {
                continue;
            }
            String[] sides = entry.split("=", 2);
            if (sides.length < 2) {
                throw new IllegalArgumentException("ferro.algorithm has \"" + entry.strip()
                        + "\": need kind=algorithm, for example allReduce=ring");
            }
            CollectiveKind kind = CollectiveKind.parse(sides[0].strip());
            wanted.put(kind, Algorithm.of(kind, sides[1].strip()));
        }
        return new AlgorithmChooser(wanted, false);
    }

    /**
     * Returns the same choice for ranks that are far from each other ({@link ferro.Medium#far}). {@code areFar} must be
     * equal on all ranks. Between far ranks, one step costs more than the transfer of several hundred KiB.
     */
    public AlgorithmChooser far(boolean areFar) {
        return new AlgorithmChooser(overrides, areFar);
    }

    /**
     * Returns whether operations of a kind can run in a topology; always true for {@link Topology#FLAT}. For another
     * topology, the result is false if the topology has no algorithm for the kind, or if an override names an algorithm
     * for messages between all ranks.
     */
    public boolean serves(CollectiveKind kind, Topology topology) {
        if (topology == Topology.FLAT) {
            return true;
        }
        Algorithm wanted = overrides.get(kind);
        boolean isServed = false;
        for (Algorithm row : Algorithm.all()) { // a loop, because a lambda takes time when a rank starts
            isServed |= row.kind() == kind && row.topology() == topology;
        }
        return isServed && (wanted == null || wanted.topology() != Topology.FLAT);
    }

    /**
     * Returns the override if its algorithm runs in the topology, else the default algorithm. Without an override, a
     * reduce-scatter has the same bits as the all-reduce of the same size. {@link #serves} must be true.
     */
    public Algorithm algorithm(Topology topology, ChoiceInputs needed) {
        Algorithm wanted = overrides.get(needed.kind);
        if (wanted != null && wanted.topology() == topology && wanted.fits(needed.bytes, needed.slotBytes)) {
            return wanted;
        }
        if (needed.kind == CollectiveKind.REDUCE_SCATTER) {
            return Algorithm.twins(algorithm(topology, needed.of(CollectiveKind.ALL_REDUCE)))
                    .get(0);
        }
        return switch (topology) {
            case FLAT -> flat(needed);
            case HOSTS -> byHosts(needed);
            case SHARED_MEMORY -> inSharedMemory(needed);
        };
    }

    /**
     * Returns the algorithm for an op that does not commute. If the usual algorithm combines in the order of the ranks,
     * the result is the usual algorithm. If the usual algorithm has another order, the result is the first algorithm
     * that combines in the order of the ranks.
     */
    public Algorithm inRankOrder(ChoiceInputs needed) {
        Algorithm usual = algorithm(Topology.FLAT, needed);
        return usual.isInRankOrder()
                ? usual
                : Algorithm.rows(needed.kind, Topology.FLAT)
                        .filter(Algorithm::isInRankOrder)
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException(needed + " has no order of ranks"));
    }

    /**
     * Returns the algorithm for an operation whose parts have different lengths. For an all-to-all, the size is
     * ignored, because the size differs between ranks.
     */
    public Algorithm algorithmOfParts(ChoiceInputs needed) {
        return needed.kind == CollectiveKind.ALL_TO_ALL
                ? Algorithm.ALL_TO_ALL_PAIRWISE
                : algorithm(Topology.FLAT, needed);
    }

    private static IllegalArgumentException hasTwin(ChoiceInputs needed) {
        return new IllegalArgumentException(
                needed + " has no algorithm of its own: it uses the algorithm of allReduce");
    }

    private Algorithm flat(ChoiceInputs needed) {
        int worldSize = needed.worldSize;
        long bytes = needed.bytes;
        return switch (needed.kind) {
            case ALL_REDUCE -> allReduce(worldSize, bytes);
            case ALL_GATHER -> allGather(worldSize, bytes);
            case BROADCAST -> worldSize <= 2 ? Algorithm.BROADCAST_LINEAR : Algorithm.BROADCAST_BINOMIAL;
            case REDUCE -> worldSize <= 2 ? Algorithm.REDUCE_LINEAR : Algorithm.REDUCE_BINOMIAL;
            case GATHER -> isDirect(worldSize, bytes) ? Algorithm.GATHER_LINEAR : Algorithm.GATHER_BINOMIAL;
            case SCATTER -> isDirect(worldSize, bytes) ? Algorithm.SCATTER_LINEAR : Algorithm.SCATTER_BINOMIAL;
            case REDUCE_SCATTER -> throw hasTwin(needed);
            case ALL_TO_ALL -> Algorithm.ALL_TO_ALL_PAIRWISE;
            case SCAN -> isChain(worldSize, bytes) ? Algorithm.SCAN_CHAIN : Algorithm.SCAN_DOUBLING;
            case EXCLUSIVE_SCAN ->
                isChain(worldSize, bytes) ? Algorithm.EXCLUSIVE_SCAN_CHAIN : Algorithm.EXCLUSIVE_SCAN_DOUBLING;
            case BARRIER -> Algorithm.BARRIER_DISSEMINATION;
        };
    }

    private static boolean isDirect(int worldSize, long bytes) {
        return worldSize <= 8 || bytes > 64 * KIB;
    }

    /**
     * Chooses an all-reduce. Up to 32 KiB, two ranks exchange all data once. Above this size, two ranks exchange two
     * halves. With more ranks, the number of steps matters for small data and the number of bytes for large data.
     * Between far ranks, the number of steps matters up to larger sizes.
     */
    private Algorithm allReduce(int worldSize, long bytes) {
        long maxUndivided = far ? maxUndividedFar(worldSize) : (worldSize <= 2 ? 32 : 64) * KIB;
        if (bytes <= maxUndivided) {
            return Algorithm.ALL_REDUCE_DOUBLING;
        }
        boolean powerOfTwo = Integer.bitCount(worldSize) == 1;
        return worldSize > 2 && powerOfTwo && bytes <= (far ? 4096 : 1024) * KIB
                ? Algorithm.ALL_REDUCE_HALVING
                : Algorithm.ALL_REDUCE_RING;
    }

    /**
     * Chooses an all-gather. Doubling has the fewest messages. If the number of ranks is not a power of two, doubling
     * has two more steps and sends all data once more. So if the number is not a power of two, doubling is only for
     * small data and at least six ranks. Between far ranks, the number of steps matters, and {@code linear} has one
     * step.
     */
    private Algorithm allGather(int worldSize, long bytes) {
        if (worldSize <= 2 || far && bytes <= 1024 * KIB) {
            return Algorithm.ALL_GATHER_LINEAR;
        }
        boolean powerOfTwo = Integer.bitCount(worldSize) == 1;
        if (bytes <= (powerOfTwo ? 1024 : 64) * KIB && (powerOfTwo || worldSize >= 6)) {
            return Algorithm.ALL_GATHER_DOUBLING;
        }
        return bytes <= 64 * KIB ? Algorithm.ALL_GATHER_LINEAR : Algorithm.ALL_GATHER_RING;
    }

    /**
     * Chooses a scan. The number of steps matters for small data. For larger data, a chain of ranks sends the fewest
     * bytes, and the segments form a pipeline.
     */
    private boolean isChain(int worldSize, long bytes) {
        return worldSize <= 2 || bytes > (far ? 1024 : 64) * KIB;
    }

    /**
     * Chooses an algorithm between hosts. For small data the number of steps matters, for large data the number of
     * bytes.
     */
    private Algorithm byHosts(ChoiceInputs needed) {
        return switch (needed.kind) {
            case ALL_REDUCE ->
                needed.bytes <= (far ? maxUndividedFar(needed.hosts) : 64 * KIB)
                        ? Algorithm.ALL_REDUCE_BY_HOSTS_DOUBLING
                        : Algorithm.ALL_REDUCE_BY_HOSTS_RING;
            case BROADCAST -> Algorithm.BROADCAST_BY_HOSTS;
            case ALL_GATHER -> Algorithm.ALL_GATHER_BY_HOSTS;
            case BARRIER -> Algorithm.BARRIER_BY_HOSTS;
            default -> throw new IllegalArgumentException(needed + " has no algorithm between hosts");
        };
    }

    private static Algorithm inSharedMemory(ChoiceInputs needed) {
        boolean readsAll = needed.bytes <= Math.min(MAX_READ_ALL_BYTES, needed.slotBytes);
        return switch (needed.kind) {
            case ALL_REDUCE -> readsAll ? Algorithm.ALL_REDUCE_SHARED_FLAT : Algorithm.ALL_REDUCE_SHARED_HALF_IN_PLACE;
            case REDUCE -> readsAll ? Algorithm.REDUCE_SHARED_FLAT : Algorithm.REDUCE_SHARED_SHARES;
            case BARRIER -> Algorithm.BARRIER_SHARED;
            case REDUCE_SCATTER -> throw hasTwin(needed);
            case BROADCAST -> Algorithm.BROADCAST_SHARED;
            case ALL_GATHER -> Algorithm.ALL_GATHER_SHARED;
            case GATHER -> Algorithm.GATHER_SHARED;
            case SCATTER -> Algorithm.SCATTER_SHARED;
            case ALL_TO_ALL -> Algorithm.ALL_TO_ALL_SHARED;
            case SCAN, EXCLUSIVE_SCAN ->
                throw new IllegalArgumentException(needed + " has no algorithm in shared memory");
        };
    }

    /**
     * Returns the maximum size in bytes up to which far ranks exchange all data at once. Two ranks send as many bytes
     * for all data at once as for parts. More than two ranks send more bytes for all data at once than for parts.
     */
    private static long maxUndividedFar(int count) {
        return (count <= 2 ? 1024 : 256) * KIB;
    }
}
