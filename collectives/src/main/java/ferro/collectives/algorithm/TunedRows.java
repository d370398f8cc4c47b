package ferro.collectives.algorithm;

import ferro.CollectiveKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A measured table of algorithms ({@code ferro bench --tune}). The table has the algorithm of each kind of operation by
 * world size and maximum number of bytes. All ranks use the table of rank 0. Immutable.
 *
 * <p>A line is {@code KIND RANKS UP_TO_BYTES ALGORITHM}, for example {@code allReduce 4 65536 recursiveDoubling};
 * {@code max} means any size, and {@code #} begins a comment. The first matching line whose algorithm runs in the
 * topology of the ranks is used. Algorithms for links and for shared memory are in one table, because their names
 * differ.
 */
public final class TunedRows {
    /** A table without lines, with which every choice is the built-in one. */
    public static final TunedRows NONE = new TunedRows("", List.of());

    /** Maximum length of the text in bytes, so that ranks can send it in one message. */
    public static final int MAX_BYTES = 16 << 10;

    private static final int WORDS = 4;

    private final String text;
    private final List<TunedRow> rows;

    private record TunedRow(CollectiveKind kind, int ranks, long upToBytes, String algorithm) {}

    private TunedRows(String text, List<TunedRow> rows) {
        this.text = text;
        this.rows = List.copyOf(rows);
    }

    /**
     * Reads a file.
     *
     * @param file value of the setting {@code ferro.algorithm.table}; empty for none
     * @return lines of the file
     * @throws IllegalArgumentException if the file cannot be read or a line is invalid; the message names the line
     */
    public static TunedRows read(Optional<String> file) {
        if (file.isEmpty()) {
            return NONE;
        }
        try {
            return parse(Files.readString(Path.of(file.get())));
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(
                    "ferro.algorithm.table=" + file.get() + " cannot be read (" + unreadable
                            + "): ferro bench all --tune writes such a file",
                    unreadable);
        }
    }

    /**
     * Reads lines and drops comments.
     *
     * @param text lines
     * @return rows
     * @throws IllegalArgumentException if a line is invalid or the table is too long; the message names the line
     */
    public static TunedRows parse(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        List<TunedRow> rows = new ArrayList<>();
        StringBuilder kept = new StringBuilder();
        for (String line : text.lines().toList()) {
            String words = line.replaceFirst("#.*", "").strip();
            if (!words.isEmpty()) {
                rows.add(row(words));
                kept.append(words).append('\n');
            }
        }
        if (kept.toString().getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw new IllegalArgumentException("table of algorithms has " + kept.length() + " characters in "
                    + rows.size() + " lines, the maximum is " + MAX_BYTES);
        }
        return rows.isEmpty() ? NONE : new TunedRows(kept.toString(), rows);
    }

    private static TunedRow row(String line) {
        String[] words = line.split("\\s+");
        try {
            if (words.length == WORDS) {
                long upTo = words[2].equals("max") ? Long.MAX_VALUE : Long.parseLong(words[2]);
                CollectiveKind kind = CollectiveKind.parse(words[0]);
                String algorithm = AlgorithmRegistry.of(kind, words[3]).name();
                return new TunedRow(kind, Integer.parseInt(words[1]), upTo, algorithm);
            }
        } catch (IllegalArgumentException misread) {
            throw misread(line, misread);
        }
        throw misread(line, null);
    }

    private static IllegalArgumentException misread(String line, Exception cause) {
        return new IllegalArgumentException(
                "table of algorithms has the line \"" + line
                        + "\": need KIND RANKS UP_TO_BYTES ALGORITHM, for example allReduce 4 65536 ring"
                        + (cause == null ? "" : " (" + cause.getMessage() + ")"),
                cause);
    }

    /**
     * Returns the algorithm for an operation.
     *
     * @param kind      kind of operation, as of {@link ferro.Collective#kind}
     * @param worldSize number of ranks
     * @param bytes     size of the operation in bytes, the same number on all ranks
     * @param known     algorithms that run in the topology of the ranks
     * @return one of {@code known}; empty if no line matches
     */
    public Optional<Algorithm> algorithm(CollectiveKind kind, int worldSize, long bytes, List<Algorithm> known) {
        for (TunedRow row : rows) {
            if (row.ranks == worldSize && bytes <= row.upToBytes && row.kind == kind) {
                for (Algorithm algorithm : known) {
                    if (algorithm.name().equals(row.algorithm)) {
                        return Optional.of(algorithm);
                    }
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the lines.
     *
     * @return text that {@link #parse} reads
     */
    public String text() {
        return text;
    }

    /**
     * Returns a hash that distinguishes tables.
     *
     * @return 0 for {@link #NONE}
     */
    public long hash() {
        CRC32C sum = new CRC32C();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return sum.getValue();
    }
}
