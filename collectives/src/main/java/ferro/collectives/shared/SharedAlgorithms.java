package ferro.collectives.shared;

import ferro.CollectiveKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The algorithms of ranks that all share memory, and which one an operation uses: by what is equal on every rank.
 *
 * <p>What every program keeps to, so that any may follow any other, is proved by a test for all of them:
 * <ul>
 *   <li>A rank begins an operation only when all have entered the one before (the gate), and so have ended the one before
 *       that. What was written in that one may be written over: the other header line, and the slot of chunk 0.
 *   <li>Chunk 1 is written only when all have entered this operation, chunk i from {@link AreaLayout#SLOTS} on only when
 *       chunk i - SLOTS has been read by all.
 *   <li>A rank ends an operation of at least SLOTS chunks only when chunk (number of chunks - SLOTS) has been read by all.
 *   <li>A rank enters without waiting for anything but the gate.
 * </ul>
 */
public final class SharedAlgorithms {
    private static final int KIB = 1024;
    /** To here every rank reads all that the others have; above, each reduces its share. */
    private static final int FLAT_BYTES_MOST = 4 * KIB;

    /**
     * From here more than two ranks stage four times as much at once: each waits for all others once a chunk, and where ranks
     * share cores that is a turn of the scheduler (4 ranks on 2 cores: 4 MiB in 2.1 ms instead of 2.9, 64 MiB in 23 instead of
     * 32).
     */
    private static final long CROWD_BYTES_LEAST = 2L * KIB * KIB;

    /** Of a program, which takes some 40 bytes for each: it stays well below what a caller of that many has in data. */
    static final int STEPS_MOST = 1 << 19;

    /** Copy in, combine, wait and copy out. */
    private static final int STEPS_OF_PIECE = 4;

    private static final String FLAT = "flat";
    private static final String STAGED = "staged";

    private static final Map<CollectiveKind, Map<String, Algorithm>> ALGORITHMS = Map.of(
            CollectiveKind.ALL_REDUCE,
            rows(new Row(FLAT, FlatReductions::allReduce), new Row("halfInPlace", HalfInPlaceAllReduce::program)),
            CollectiveKind.REDUCE,
            rows(new Row(FLAT, FlatReductions::reduce), new Row("shares", SharesReduce::program)),
            CollectiveKind.BROADCAST,
            rows(new Row(STAGED, RootedPrograms::broadcast)),
            CollectiveKind.SCATTER,
            rows(new Row(STAGED, RootedPrograms::scatter)),
            CollectiveKind.GATHER,
            rows(new Row(STAGED, RootedPrograms::gather)),
            CollectiveKind.ALL_GATHER,
            rows(new Row(STAGED, ExchangePrograms::allGather)),
            CollectiveKind.REDUCE_SCATTER,
            rows(new Row(STAGED, ExchangePrograms::reduceScatter)),
            CollectiveKind.ALL_TO_ALL,
            rows(new Row(STAGED, ExchangePrograms::allToAll)),
            CollectiveKind.BARRIER,
            rows(new Row(FLAT, ExchangePrograms::barrier)));

    private SharedAlgorithms() {}

    /** Makes the program of one rank. */
    @FunctionalInterface
    private interface Algorithm {
        Program program(SharedCall call, int chunkBytes);
    }

    /** An algorithm and its name. */
    private record Row(String name, Algorithm algorithm) {}

    /**
     * Lists the algorithms of a kind.
     *
     * @param kind as {@link ferro.Collective#kind}
     * @return names
     */
    public static List<String> algorithms(CollectiveKind kind) {
        return List.copyOf(ALGORITHMS.get(kind).keySet());
    }

    /**
     * Returns the algorithm for an operation.
     *
     * @param call operation
     * @return its name
     */
    public static String algorithm(SharedCall call) {
        List<String> names = List.copyOf(ALGORITHMS.get(call.kind()).keySet());
        return call.bytes() <= FLAT_BYTES_MOST ? names.get(0) : names.get(names.size() - 1);
    }

    /**
     * Returns whether the program of an operation is short enough to be made; the same on all ranks.
     *
     * @param call   operation
     * @param layout of the areas
     * @return false for very long operations of very many ranks, for which links have plans that do not grow
     */
    public static boolean isShort(SharedCall call, AreaLayout layout) {
        long chunks = call.bytes() / Math.min(layout.slotBytes(), chunkBytes(call)) + 1;
        return chunks * call.worldSize() * STEPS_OF_PIECE <= STEPS_MOST;
    }

    /**
     * Makes the program of one rank.
     *
     * @param call      operation, and whose program
     * @param algorithm one of {@link #algorithms}
     * @param layout    of the areas
     * @return program
     */
    public static Program program(SharedCall call, String algorithm, AreaLayout layout) {
        return program(call, algorithm, Math.min(layout.slotBytes(), chunkBytes(call)));
    }

    /** As above, with chunks of a size: for proofs. */
    static Program program(SharedCall call, String algorithm, int chunkBytes) {
        return ALGORITHMS.get(call.kind()).get(algorithm).program(call, chunkBytes);
    }

    /** Returns how much is staged at once; measured, see docs/performance. */
    private static int chunkBytes(SharedCall call) {
        long bytes = call.bytes();
        if (call.worldSize() > 2 && bytes >= CROWD_BYTES_LEAST) {
            return KIB * KIB;
        }
        if (bytes >= 8 * KIB * KIB && bytes < 32 * KIB * KIB) {
            return KIB * KIB;
        }
        return 256 * KIB;
    }

    private static Map<String, Algorithm> rows(Row... rows) {
        Map<String, Algorithm> byName = new LinkedHashMap<>();
        for (Row row : rows) {
            byName.put(row.name, row.algorithm);
        }
        return byName;
    }
}
