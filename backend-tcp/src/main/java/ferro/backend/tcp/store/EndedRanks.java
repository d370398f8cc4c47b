package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.Store;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Reports about how the processes of ranks ended. Launchers write the reports into the store, and other ranks read them
 * after a failure. Thread-safe.
 *
 * <p>A report contains the last line that the rank has printed. Therefore a rank reads reports only over a connection
 * that is encrypted or local. Launchers encrypt connections between hosts.
 */
public final class EndedRanks {
    /** Prefix of the store keys of the reports. No group that a rank joins has this name. */
    private static final String KEYS = "@ends/";

    private static final int FIELDS = 5;

    /** The store; null if no launcher reports how ranks end, or if this rank may not read the reports. */
    private final TcpStore store;

    private final String reader;
    private final Map<Integer, CompletableFuture<RankEnd>> asked = new ConcurrentHashMap<>();

    private EndedRanks(TcpStore store, String reader) {
        this.store = store;
        this.reader = reader;
    }

    /** Returns an object that never has a report. */
    public static EndedRanks unknown() {
        return new EndedRanks(null, "");
    }

    /**
     * Returns the reports about the ranks of a joined group.
     *
     * @param store   store of the join
     * @param spec    joined group
     * @param context context with the settings of the launcher
     */
    public static EndedRanks of(Store store, GroupSpec spec, RankContext context) {
        boolean readable = store instanceof TcpStore tcp && tcp.isPrivate() && areNumbered(spec, context);
        return readable
                ? new EndedRanks((TcpStore) store, "rank " + spec.rank() + " of \"" + spec.name() + "\": ")
                : unknown();
    }

    /** Returns whether a launcher serves the store and has assigned the rank numbers of the group. */
    private static boolean areNumbered(GroupSpec spec, RankContext context) {
        return Settings.STORE_SERVED.of(context)
                && Settings.ENV_RANK.find(context).equals(Optional.of(spec.rank()))
                && Settings.ENV_WORLD_SIZE.find(context).equals(Optional.of(spec.worldSize()));
    }

    /**
     * Calls a receiver when the launcher of a rank reports how the rank's process has ended. Logs the report once.
     *
     * @param rank     rank of the joined group
     * @param receiver receives the report on a thread of the store, or on the caller's thread if the report already
     *     exists; must not block
     */
    public void when(int rank, Consumer<RankEnd> receiver) {
        if (store != null) {
            asked.computeIfAbsent(rank, this::asked).thenAccept(receiver);
        }
    }

    private CompletableFuture<RankEnd> asked(int rank) {
        try {
            return store.when(key(rank))
                    .thenApply(value -> logged(rank, end(value)))
                    .toCompletableFuture();
        } catch (FerroException | IllegalStateException closed) {
            // the connection to the store has ended, so no report arrives
            return new CompletableFuture<>();
        }
    }

    private RankEnd logged(int rank, RankEnd end) {
        PlainLoggers.write("ferro.group", Level.WARNING, reader + end.text(rank));
        return end;
    }

    /** Returns the store key of a rank of the job. */
    public static String key(int rank) {
        return KEYS + rank;
    }

    /** Encodes the report about the end of a rank as a value of the store. */
    public static byte[] value(RankEnd end) {
        return String.join(
                        "\n",
                        Long.toString(end.pid()),
                        end.host(),
                        Integer.toString(end.exitCode()),
                        end.signal().orElse(""),
                        end.lastLine().orElse(""))
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Parses the report about the end of a rank from a value of the store.
     *
     * @throws IllegalArgumentException if the value is not such a report
     */
    static RankEnd end(byte[] value) {
        String[] fields = new String(value, StandardCharsets.UTF_8).split("\n", FIELDS);
        if (fields.length < FIELDS) {
            throw new IllegalArgumentException("the end of a rank with " + fields.length + " fields, need " + FIELDS);
        }
        return RankEnd.of(Long.parseLong(fields[0]), fields[1], Integer.parseInt(fields[2]))
                .bySignal(fields[3])
                .afterLine(fields[4]);
    }
}
