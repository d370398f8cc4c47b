package ferro.collectives.algorithm;

import ferro.CollectiveKind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Which algorithm an operation uses; immutable, any thread may use it.
 *
 * <p>The choice may look only at what is equal on every rank: kind, world size, hosts and a byte count. All ranks have the same
 * choice; overrides must be equal on all ranks, and are found out as a mismatch where they are not.
 */
public final class AlgorithmChoice {
    private static final long KIB = 1024;
    /** To here every rank of a shared memory reads all that the others have; above, each reduces its share. */
    private static final long READ_ALL_BYTES_MOST = 4 * KIB;

    private final Map<CollectiveKind, Algorithm> overrides;
    private final TunedRows tuned;
    private final boolean far;

    private AlgorithmChoice(Map<CollectiveKind, Algorithm> overrides, TunedRows tuned, boolean far) {
        this.overrides = Map.copyOf(overrides);
        this.tuned = tuned;
        this.far = far;
    }

    /**
     * What an operation is chosen for, the same on all ranks.
     *
     * @param kind      of operation
     * @param worldSize ranks
     * @param hosts     where the topology is {@link Topology#HOSTS}, how many there are; else any number
     * @param bytes     size of the operation
     * @param slotBytes where ranks share memory, what is staged at once at most; else any number
     */
    public record Case(CollectiveKind kind, int worldSize, int hosts, long bytes, long slotBytes) {
        /**
         * A case for messages between all ranks.
         *
         * @param kind      of operation
         * @param worldSize ranks
         * @param bytes     size of the operation
         */
        public Case(CollectiveKind kind, int worldSize, long bytes) {
            this(kind, worldSize, worldSize, bytes, 0);
        }
    }

    /**
     * Returns a choice.
     *
     * @param overrides what the setting {@code ferro.algorithm} says, for example {@code allReduce=ring,broadcast=binomial}; empty
     *                  for none
     * @return choice that prefers those
     * @throws IllegalArgumentException listing what exists if a kind or an algorithm does not
     */
    public static AlgorithmChoice of(String overrides) {
        Map<CollectiveKind, Algorithm> wanted = new EnumMap<>(CollectiveKind.class);
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
            wanted.put(kind, AlgorithmRegistry.of(kind, sides[1].strip()));
        }
        return new AlgorithmChoice(wanted, TunedRows.NONE, false);
    }

    /**
     * Returns the same with a table that was measured, which overrides stand above.
     *
     * @param rows measured
     * @return choice
     */
    public AlgorithmChoice with(TunedRows rows) {
        return new AlgorithmChoice(overrides, rows, far);
    }

    /**
     * Returns the same for ranks between which a step costs more than some hundred KiB do.
     *
     * @param areFar equal on all ranks ({@link ferro.Medium#far})
     * @return choice
     */
    public AlgorithmChoice far(boolean areFar) {
        return new AlgorithmChoice(overrides, tuned, areFar);
    }

    /**
     * Returns whether operations of a kind run in a topology where the ranks have it.
     *
     * @param kind     of operation
     * @param topology what the ranks have
     * @return false if there is no algorithm, or an override names one for messages between all ranks
     */
    public boolean serves(CollectiveKind kind, Topology topology) {
        Algorithm wanted = overrides.get(kind);
        return topology == Topology.FLAT
                || (wanted == null || wanted.topology() != Topology.FLAT)
                        && !AlgorithmRegistry.names(kind, topology).isEmpty();
    }

    /**
     * Returns the algorithm for an operation: an override if it runs there, else what was measured, else the built-in one.
     *
     * @param topology one that {@link #serves} the kind
     * @param needed   for what
     * @return algorithm of that topology
     */
    public Algorithm algorithm(Topology topology, Case needed) {
        Algorithm wanted = overrides.get(needed.kind);
        if (wanted != null && wanted.topology() == topology && wanted.fits(needed.bytes, needed.slotBytes)) {
            return wanted;
        }
        List<String> known = AlgorithmRegistry.names(needed.kind, topology);
        return tuned.algorithm(needed.kind, needed.worldSize, needed.bytes, known)
                .map(name -> AlgorithmRegistry.of(needed.kind, name))
                .filter(measured -> measured.fits(needed.bytes, needed.slotBytes))
                .orElseGet(() -> AlgorithmRegistry.of(needed.kind, builtIn(topology, needed)));
    }

    /**
     * Returns the algorithm for an operation whose parts have lengths of their own.
     *
     * @param needed for what; of an all-to-all every rank has another size, which is not looked at
     * @return algorithm for messages between all ranks
     */
    public Algorithm algorithmOfParts(Case needed) {
        return needed.kind == CollectiveKind.ALL_TO_ALL
                ? AlgorithmRegistry.of(needed.kind, "pairwise")
                : algorithm(Topology.FLAT, needed);
    }

    /** By name: a row that the registry has besides is taken where it is asked for. */
    private String builtIn(Topology topology, Case needed) {
        return switch (topology) {
            case FLAT -> flat(needed);
            case HOSTS -> byHosts(needed);
            case SHARED_MEMORY -> inSharedMemory(needed);
        };
    }

    private String flat(Case needed) {
        int worldSize = needed.worldSize;
        long bytes = needed.bytes;
        return switch (needed.kind) {
            case ALL_REDUCE -> allReduce(worldSize, bytes);
            case ALL_GATHER -> worldSize <= 2 || bytes <= (far ? 1024 : 64) * KIB ? "direct" : "ring";
            case BROADCAST, REDUCE -> worldSize <= 2 ? "direct" : "binomial";
            case GATHER, SCATTER -> worldSize <= 8 || bytes > 64 * KIB ? "direct" : "binomial";
            case REDUCE_SCATTER -> "direct";
            case ALL_TO_ALL -> "pairwise";
            case BARRIER -> "dissemination";
        };
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

    /** Between hosts few steps count for small ones, few bytes for large ones. */
    private String byHosts(Case needed) {
        if (needed.kind != CollectiveKind.ALL_REDUCE) {
            return "byHosts";
        }
        return needed.bytes <= (far ? wholeFar(needed.hosts) : 64 * KIB) ? "byHostsDoubling" : "byHostsRing";
    }

    private static String inSharedMemory(Case needed) {
        boolean readsAll = needed.bytes <= Math.min(READ_ALL_BYTES_MOST, needed.slotBytes);
        return switch (needed.kind) {
            case ALL_REDUCE -> readsAll ? "flat" : "halfInPlace";
            case REDUCE -> readsAll ? "flat" : "shares";
            case BARRIER -> "flat";
            case BROADCAST, ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> "staged";
        };
    }

    /** Up to how many bytes far ones exchange the whole: two send as much either way, more of them more than in parts. */
    private static long wholeFar(int count) {
        return (count <= 2 ? 1024 : 256) * KIB;
    }
}
