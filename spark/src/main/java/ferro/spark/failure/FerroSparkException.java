package ferro.spark.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * An exception that reports that a ferro job in Spark has failed. The message names the rank and the task that failed
 * first. The cause is Spark's exception.
 */
public final class FerroSparkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The rank at fault; -1 if this rank is unknown. */
    private final int rank;
    /** Flight recordings by rank. The field is transient, because exceptions are logged and sent. */
    private final transient Map<Integer, byte[]> recordings;

    /**
     * Creates an exception.
     *
     * @param message    the diagnosis
     * @param rank       the rank at fault; -1 if this rank is unknown
     * @param recordings the flight recordings by rank
     * @param cause      the exception that Spark threw
     */
    public FerroSparkException(String message, int rank, Map<Integer, byte[]> recordings, Throwable cause) {
        super(message, cause);
        this.rank = rank;
        this.recordings = new TreeMap<>(recordings);
    }

    /** {@return the rank at fault; empty if the rank is unknown, or if several ranks are at fault} */
    public OptionalInt rank() {
        return rank < 0 ? OptionalInt.empty() : OptionalInt.of(rank);
    }

    /**
     * Writes the flight recordings that ranks sent, one file per rank. {@code ferro analyze} reads these files. A
     * recording shows the last calls of a rank, and the ranks for which the rank waited.
     *
     * @param folder the folder; it is created if it does not exist
     * @return the number of files written; a rank whose process ended at once has sent no recording
     * @throws IOException if a file cannot be written
     */
    public int writeRecordings(Path folder) throws IOException {
        Files.createDirectories(folder);
        if (recordings == null) {
            return 0;
        }
        for (Map.Entry<Integer, byte[]> one : recordings.entrySet()) {
            Files.write(folder.resolve("ferro-spark-rank" + one.getKey() + ".json"), one.getValue());
        }
        return recordings.size();
    }
}
