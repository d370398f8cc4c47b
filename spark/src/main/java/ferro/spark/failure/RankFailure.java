package ferro.spark.failure;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The report of one rank about its failure.
 *
 * @param rank      the rank that reports
 * @param code      the name of the {@link FerroException} code; empty if no {@link FerroException} was thrown
 * @param culprits  the ranks that ferro blames, ascending; empty if ferro blames no rank
 * @param types     the class names of the exception and of its causes, with their superclasses
 * @param message   the message of the exception
 * @param recording the flight recording of the rank, for {@code ferro analyze}; empty if the rank has no recording
 */
public record RankFailure(
        int rank, String code, Set<Integer> culprits, List<String> types, String message, byte[] recording) {
    /** The maximum size in bytes of a recording in a report. */
    public static final int MAX_RECORDING_BYTES = 64 << 10;

    private static final String FETCH = "org.apache.spark.shuffle.FetchFailedException";
    private static final int MAX_TEXT = 16 << 10;
    private static final int MAX_TYPES = 64;
    private static final int MAX_CULPRITS = 4096;

    /**
     * Creates a report.
     *
     * @param rank      the rank that reports
     * @param code      the name of the {@link FerroException} code; empty if no {@link FerroException} was thrown
     * @param culprits  the ranks that ferro blames, ascending; empty if ferro blames no rank
     * @param types     the class names of the exception and of its causes
     * @param message   the message of the exception
     * @param recording the flight recording of the rank; empty if the rank has no recording
     */
    public RankFailure {
        Objects.requireNonNull(code, "code");
        culprits = Collections.unmodifiableSet(new TreeSet<>(culprits));
        types = List.copyOf(types);
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(recording, "recording");
    }

    /**
     * Creates the report of an exception.
     *
     * @param rank      the rank that reports
     * @param failure   the exception that the rank's function or the join threw
     * @param recording the flight recording of the rank; empty if the rank has no recording
     * @return the report
     */
    public static RankFailure of(int rank, Throwable failure, byte[] recording) {
        Optional<FerroException> known = ofFerro(failure);
        String code = known.map(one -> one.code().name()).orElse("");
        Set<Integer> culprits = known.map(one -> one.where().culprits()).orElse(Set.of());
        String message = known.map(Throwable::getMessage).orElseGet(() -> text(failure));
        return new RankFailure(rank, code, culprits, types(failure), message, recording);
    }

    /**
     * Creates the report of a rank whose function threw an exception because Spark killed the rank's task.
     *
     * @param rank      the rank that reports
     * @param failure   the exception that the rank's function threw
     * @param recording the flight recording of the rank; empty if the rank has no recording
     * @return a report with the code {@code ABORTED}, which blames no rank
     */
    public static RankFailure ofKill(int rank, Throwable failure, byte[] recording) {
        String message = "Spark killed the task of rank " + rank + ", whose function then threw " + text(failure);
        return new RankFailure(rank, Code.ABORTED.name(), Set.of(), types(failure), message, recording);
    }

    /**
     * Creates the report of a rank whose function threw an exception after another rank had made the group fail.
     *
     * @param rank      the rank that reports
     * @param group     the failure of the group
     * @param failure   the exception that the rank's function threw
     * @param recording the flight recording of the rank; empty if the rank has no recording
     * @return a report of the group's failure
     */
    public static RankFailure ofGroup(int rank, FerroException group, Throwable failure, byte[] recording) {
        String message = group.getMessage() + "; the function of rank " + rank + " then threw " + text(failure);
        return new RankFailure(rank, group.code().name(), group.where().culprits(), types(failure), message, recording);
    }

    private static String text(Throwable failure) {
        String name = failure.getClass().getSimpleName();
        boolean byCause = failure.getMessage() == null && failure.getCause() != null;
        return byCause ? name + " caused by " + text(failure.getCause()) : name + ": " + failure.getMessage();
    }

    /**
     * Returns the first {@link FerroException} in a chain that consists of an exception and its causes.
     *
     * @param failure the exception that was thrown
     * @return the {@link FerroException}; empty if the chain has none
     */
    public static Optional<FerroException> ofFerro(Throwable failure) {
        int depth = 0;
        for (Throwable at = failure; at != null && depth < MAX_TYPES; at = at.getCause(), depth++) {
            if (at instanceof FerroException known) {
                return Optional.of(known);
            }
        }
        return Optional.empty();
    }

    /**
     * Creates a report from Spark's information, for a rank that sent no report of its own.
     *
     * @param rank    the rank whose task failed
     * @param type    the class name of the exception
     * @param message the message of the exception
     * @return the report
     */
    public static RankFailure ofSpark(int rank, String type, String message) {
        String name = type.substring(type.lastIndexOf('.') + 1);
        return new RankFailure(rank, "", Set.of(), List.of(type), name + ": " + message, new byte[0]);
    }

    /**
     * Creates a report for a rank whose rows Spark could not fetch, and that sent no report of its own.
     *
     * @param rank    the rank whose task failed
     * @param message the message from Spark
     * @return the report
     */
    public static RankFailure ofFetch(int rank, String message) {
        return ofSpark(rank, FETCH, message);
    }

    private static List<String> types(Throwable failure) {
        List<String> names = new ArrayList<>();
        for (Throwable at = failure; at != null && names.size() < MAX_TYPES; at = at.getCause()) {
            for (Class<?> type = at.getClass(); type != Object.class; type = type.getSuperclass()) {
                names.add(type.getName());
            }
        }
        return names;
    }

    /**
     * Returns whether ferro reported the failure. If ferro did not report the failure, the rank's function failed.
     *
     * @return true if the report has a {@link FerroException} code
     */
    public boolean ofFerro() {
        return !code.isEmpty();
    }

    /**
     * Returns whether Spark failed to fetch the rank's rows from the preceding shuffle.
     *
     * @return true if another attempt may succeed, because Spark then computes the rows again
     */
    public boolean isOfFetch() {
        return types.contains(FETCH);
    }

    /**
     * Returns the report in the encoding that ranks send to the driver.
     *
     * @return the encoded report
     */
    public byte[] encoded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(rank);
            text(out, code);
            ranks(out, culprits);
            text(out, String.join("\n", types));
            text(out, message);
            int length = Math.min(recording.length, MAX_RECORDING_BYTES);
            out.writeInt(length);
            out.write(recording, 0, length);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /**
     * Decodes a report that a rank sent to the driver.
     *
     * @param bytes the bytes that the rank sent
     * @return the report
     * @throws IllegalArgumentException if the bytes are not an encoded report
     */
    public static RankFailure decoded(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            return new RankFailure(
                    in.readInt(),
                    text(in),
                    ranks(in),
                    Arrays.asList(text(in).split("\n")),
                    text(in),
                    bytes(in, MAX_RECORDING_BYTES));
        } catch (IOException cut) {
            throw new IllegalArgumentException(
                    "cannot decode " + bytes.length + " bytes as the report of a rank: " + cut, cut);
        }
    }

    private static void ranks(DataOutputStream out, Set<Integer> ranks) throws IOException {
        out.writeInt(Math.min(ranks.size(), MAX_CULPRITS));
        for (int rank : ranks.stream().limit(MAX_CULPRITS).toList()) {
            out.writeInt(rank);
        }
    }

    private static Set<Integer> ranks(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > MAX_CULPRITS) {
            throw new IOException("found " + count + " ranks, at most " + MAX_CULPRITS + " are allowed");
        }
        Set<Integer> ranks = new TreeSet<>();
        for (int i = 0; i < count; i++) {
            ranks.add(in.readInt());
        }
        return ranks;
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] all = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(all.length, MAX_TEXT);
        out.writeInt(length);
        out.write(all, 0, length);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in, MAX_TEXT), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(DataInputStream in, int max) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > max) {
            throw new IOException("found a length of " + length + " bytes, at most " + max + " are allowed");
        }
        byte[] read = new byte[length];
        in.readFully(read);
        return read;
    }
}
