package ferro.spark.failure;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.control.wire.FieldCodec;
import ferro.control.wire.FieldReader;
import ferro.control.wire.WireMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The report of one rank about its failure.
 *
 * @param failure   the cause as the rank knows it; its origin is the rank that reports
 * @param ofFerro   true if ferro reported the failure; false if the rank's function failed
 * @param types     the class names of the exception and of its causes, with their superclasses
 * @param recording the flight recording of the rank, for {@code ferro analyze}; empty if the rank has no recording
 */
public record RankFailure(Failure failure, boolean ofFerro, List<String> types, byte[] recording)
        implements WireMessage {
    /** The maximum size in bytes of a recording in a report. */
    public static final int MAX_RECORDING_BYTES = 64 << 10;

    private static final byte KIND = 1;
    private static final String FETCH = "org.apache.spark.shuffle.FetchFailedException";
    private static final int MAX_TYPES = 64;
    private static final int MAX_TYPES_BYTES = 16 << 10;
    private static final int MAX_BYTES = MAX_RECORDING_BYTES + MAX_TYPES_BYTES + BYTES_MOST;

    /**
     * Creates a report.
     *
     * @param failure   the cause as the rank knows it; its origin is the rank that reports
     * @param ofFerro   true if ferro reported the failure; false if the rank's function failed
     * @param types     the class names of the exception and of its causes
     * @param recording the flight recording of the rank; empty if the rank has no recording
     */
    public RankFailure {
        Objects.requireNonNull(failure, "failure");
        types = List.copyOf(types);
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
        Failure cause = known.map(one -> cause(rank, one, one.getMessage())).orElseGet(() -> own(rank, text(failure)));
        return new RankFailure(cause, known.isPresent(), types(failure), recording);
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
        Failure cause = new Failure(Code.ABORTED, rank, -1, Set.of(), message, null);
        return new RankFailure(cause, true, types(failure), recording);
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
        return new RankFailure(cause(rank, group, message), true, types(failure), recording);
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
        return new RankFailure(own(rank, name + ": " + message), false, List.of(type), new byte[0]);
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

    private static Failure cause(int rank, FerroException known, String message) {
        return new Failure(
                known.code(), rank, known.where().sequence(), known.where().culprits(), message, null);
    }

    private static Failure own(int rank, String message) {
        return new Failure(Code.ABORTED, rank, -1, Set.of(rank), message, null);
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

    private static List<String> types(Throwable failure) {
        List<String> names = new ArrayList<>();
        for (Throwable at = failure; at != null && names.size() < MAX_TYPES; at = at.getCause()) {
            for (Class<?> type = at.getClass(); type != Object.class; type = type.getSuperclass()) {
                names.add(type.getName());
            }
        }
        return names;
    }

    /** {@return the rank that reports} */
    public int rank() {
        return failure.origin();
    }

    /**
     * {@return whether Spark failed to fetch the rank's rows from the preceding shuffle. If true, another attempt may
     * succeed, because Spark then computes the rows again}
     */
    public boolean isOfFetch() {
        return types.contains(FETCH);
    }

    @Override
    public RankFailure through(FieldCodec fields) {
        fields.kind(KIND);
        return new RankFailure(
                failure.through(fields),
                fields.count("ofFerro", ofFerro ? 1 : 0) == 1,
                List.of(fields.text("types", MAX_TYPES_BYTES, String.join("\n", types))
                        .split("\n")),
                fields.bytes("recording", MAX_RECORDING_BYTES, recording));
    }

    /**
     * Decodes a report that a rank sent to the driver. The group that failed may have ranks that are not in the job. The
     * report then blames no rank, because equal numbers may mean different ranks, and its text has the numbers of the group.
     *
     * @param bytes the bytes that the rank sent
     * @param ranks the number of ranks of the job
     * @return the report
     * @throws IllegalArgumentException if the bytes are not an encoded report
     */
    public static RankFailure decoded(byte[] bytes, int ranks) {
        FieldReader in = new FieldReader("report of a rank", ByteBuffer.wrap(bytes), Integer.MAX_VALUE, MAX_BYTES);
        if (in.kind() != KIND) {
            throw in.unknown(KIND);
        }
        RankFailure read = new RankFailure(Failure.NONE, false, List.of(), new byte[0]).through(in);
        in.end();
        return new RankFailure(inJob(read.failure, ranks), read.ofFerro, read.types, read.recording);
    }

    private static Failure inJob(Failure failure, int ranks) {
        if (failure.origin() >= ranks) {
            throw new IllegalArgumentException("report of rank " + failure.origin() + ": need a rank below " + ranks);
        }
        if (failure.culprits().stream().allMatch(rank -> rank < ranks)) {
            return failure;
        }
        return new Failure(failure.code(), failure.origin(), failure.sequence(), Set.of(), failure.text(), null);
    }
}
