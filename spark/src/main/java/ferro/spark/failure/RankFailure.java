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
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What one rank reports of its failure.
 *
 * @param rank      rank that reports
 * @param code      kind of a failure of ferro; empty if something else was thrown
 * @param culprits  ranks that ferro blames, separated by commas; empty if unknown
 * @param types     names of the classes of the exception and of its causes, with their superclasses
 * @param message   text of the exception
 * @param recording what the rank did last, for {@code ferro analyze}; empty if there is none
 */
public record RankFailure(
        int rank, String code, String culprits, List<String> types, String message, byte[] recording) {
    /** Most bytes of a recording that travel. */
    public static final int MOST_RECORDING_BYTES = 64 << 10;

    private static final String FETCH = "org.apache.spark.shuffle.FetchFailedException";
    private static final int MOST_TEXT = 16 << 10;
    private static final int MOST_TYPES = 64;

    /**
     * Makes a report.
     *
     * @param rank      rank that reports
     * @param code      kind of a failure of ferro; empty if something else was thrown
     * @param culprits  ranks that ferro blames, separated by commas; empty if unknown
     * @param types     names of classes
     * @param message   text of the exception
     * @param recording what the rank did last; empty if there is none
     */
    public RankFailure {
        Objects.requireNonNull(code, "code");
        Objects.requireNonNull(culprits, "culprits");
        types = List.copyOf(types);
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(recording, "recording");
    }

    /**
     * Makes the report of an exception.
     *
     * @param rank      rank that reports
     * @param failure   what the rank's function or the join threw
     * @param recording what the rank did last; empty if there is none
     * @return report
     */
    public static RankFailure of(int rank, Throwable failure, byte[] recording) {
        Optional<FerroException> known = ofFerro(failure);
        String code = known.map(one -> one.code().name()).orElse("");
        String culprits = known.map(one -> one.where().culprits()).orElse("");
        String message = known.map(Throwable::getMessage).orElseGet(() -> text(failure));
        return new RankFailure(rank, code, culprits, types(failure), message, recording);
    }

    /**
     * Makes the report of a rank whose task Spark has killed, because of which its function threw.
     *
     * @param rank      rank that reports
     * @param failure   what the rank's function threw
     * @param recording what the rank did last; empty if there is none
     * @return report of code {@code ABORTED}, which blames no rank
     */
    public static RankFailure ofKill(int rank, Throwable failure, byte[] recording) {
        String message = "Spark killed the task of rank " + rank + ", whose function then threw " + text(failure);
        return new RankFailure(rank, Code.ABORTED.name(), "", types(failure), message, recording);
    }

    /**
     * Makes the report of a rank whose function threw after its group had failed by another rank.
     *
     * @param rank      rank that reports
     * @param group     why the group failed
     * @param failure   what the rank's function threw
     * @param recording what the rank did last; empty if there is none
     * @return report of the group's failure
     */
    public static RankFailure ofGroup(int rank, FerroException group, Throwable failure, byte[] recording) {
        String message = group.getMessage() + "; the function of rank " + rank + " then threw " + text(failure);
        return new RankFailure(rank, group.code().name(), group.where().culprits(), types(failure), message, recording);
    }

    private static String text(Throwable failure) {
        String name = failure.getClass().getSimpleName();
        boolean byCause = failure.getMessage() == null && failure.getCause() != null;
        return byCause ? name + " by " + text(failure.getCause()) : name + ": " + failure.getMessage();
    }

    /**
     * Returns the failure of ferro that an exception is, or that is one of its causes.
     *
     * @param failure what was thrown
     * @return failure of ferro; empty if there is none
     */
    public static Optional<FerroException> ofFerro(Throwable failure) {
        int depth = 0;
        for (Throwable at = failure; at != null && depth < MOST_TYPES; at = at.getCause(), depth++) {
            if (at instanceof FerroException known) {
                return Optional.of(known);
            }
        }
        return Optional.empty();
    }

    /**
     * Makes the report of a rank that has sent none, of what Spark has seen.
     *
     * @param rank    rank whose task failed
     * @param type    name of the class of the exception
     * @param message text of the exception
     * @return report
     */
    public static RankFailure ofSpark(int rank, String type, String message) {
        String name = type.substring(type.lastIndexOf('.') + 1);
        return new RankFailure(rank, "", "", List.of(type), name + ": " + message, new byte[0]);
    }

    /**
     * Makes the report of a rank that has sent none, and whose rows Spark could not fetch.
     *
     * @param rank    rank whose task failed
     * @param message text of Spark
     * @return report
     */
    public static RankFailure ofFetch(int rank, String message) {
        return ofSpark(rank, FETCH, message);
    }

    private static List<String> types(Throwable failure) {
        List<String> names = new ArrayList<>();
        for (Throwable at = failure; at != null && names.size() < MOST_TYPES; at = at.getCause()) {
            for (Class<?> type = at.getClass(); type != Object.class; type = type.getSuperclass()) {
                names.add(type.getName());
            }
        }
        return names;
    }

    /**
     * Returns whether ferro failed, and not the rank's function.
     *
     * @return true for a failure of communication
     */
    public boolean ofFerro() {
        return !code.isEmpty();
    }

    /**
     * Returns whether Spark could not fetch the rank's rows from the shuffle in front of it.
     *
     * @return true if another attempt, for which Spark computes them again, may end better
     */
    public boolean isOfFetch() {
        return types.contains(FETCH);
    }

    /**
     * Returns the form that travels.
     *
     * @return bytes
     */
    public byte[] encoded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(rank);
            text(out, code);
            text(out, culprits);
            text(out, String.join("\n", types));
            text(out, message);
            int length = Math.min(recording.length, MOST_RECORDING_BYTES);
            out.writeInt(length);
            out.write(recording, 0, length);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads the form that travels.
     *
     * @param bytes of a rank
     * @return report
     * @throws IllegalArgumentException if they are none
     */
    public static RankFailure decoded(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            return new RankFailure(
                    in.readInt(),
                    text(in),
                    text(in),
                    Arrays.asList(text(in).split("\n")),
                    text(in),
                    bytes(in, MOST_RECORDING_BYTES));
        } catch (IOException cut) {
            throw new IllegalArgumentException(bytes.length + " bytes are no report of a rank: " + cut, cut);
        }
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] all = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(all.length, MOST_TEXT);
        out.writeInt(length);
        out.write(all, 0, length);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in, MOST_TEXT), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(DataInputStream in, int most) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > most) {
            throw new IOException("a length of " + length + ", at most " + most);
        }
        byte[] read = new byte[length];
        in.readFully(read);
        return read;
    }
}
