package ferro.spark.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/** A job of ferro in Spark has failed. The text names the rank and the task that failed first; the cause is Spark's exception. */
public final class FerroSparkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The rank at fault; -1 if unknown. */
    private final int rank;
    /** By rank; transient, since exceptions are logged and sent. */
    private final transient Map<Integer, byte[]> recordings;

    /**
     * Makes a failure.
     *
     * @param message    diagnosis
     * @param rank       rank at fault; -1 if unknown
     * @param recordings recordings by rank
     * @param cause      exception of Spark
     */
    public FerroSparkException(String message, int rank, Map<Integer, byte[]> recordings, Throwable cause) {
        super(message, cause);
        this.rank = rank;
        this.recordings = new TreeMap<>(recordings);
    }

    /**
     * Returns the rank at fault.
     *
     * @return rank; empty if it is not known, or several ranks are
     */
    public OptionalInt rank() {
        return rank < 0 ? OptionalInt.empty() : OptionalInt.of(rank);
    }

    /**
     * Writes the recordings that ranks sent, for {@code ferro analyze}: what each rank did last, and for which ranks it waited.
     *
     * @param folder folder, made if it is not there
     * @return number of files written; ranks whose process ended at once have sent none
     * @throws IOException if they cannot be written
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
