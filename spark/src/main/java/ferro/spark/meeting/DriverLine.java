package ferro.spark.meeting;

import ferro.Store;
import ferro.backend.tcp.TcpStoreClient;
import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.spark.failure.RankFailure;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A rank's connection to the driver's store beside that of its group; opened by its first report. Where the driver serves no
 * store, reports stay here, and the driver learns of a failure by Spark. Not thread-safe.
 */
public final class DriverLine implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final StorePlace place;
    private final int stageAttempt;
    private final int rank;
    private TcpStoreClient line;
    private Long lastProgress;
    private boolean progressLost;
    private boolean progressSent;

    /** Makes the line of a rank in an attempt of its stage; opens nothing. */
    public DriverLine(StorePlace place, int stageAttempt, int rank) {
        this.stageAttempt = stageAttempt;
        this.place = place;
        this.rank = rank;
    }

    private Store store() {
        if (line == null) {
            byte[] secret = place.secured() ? JobSecret.of(place.jobId()).orElse(null) : null;
            InetSocketAddress at = InetSocketAddress.createUnresolved(place.host(), place.port());
            line = TcpStoreClient.open(new StoreAddress(at, place.jobId(), secret, rank), PATIENCE);
        }
        return line.store();
    }

    /** Reports a failure; returns when the driver has it. A driver that is gone needs no report. */
    public void failed(RankFailure failure) {
        if (!place.isDriver()) {
            return;
        }
        try {
            store().set(ReportKeys.FAILURE + stageAttempt + "/" + rank, failure.encoded());
            // set does not wait, this does
            store().add(ReportKeys.SENT, 1);
        } catch (RuntimeException gone) {
            lost("report \"" + failure.message() + "\"", gone);
        }
    }

    /** Reports progress, at most once a second. Without a driver that answers, later reports are dropped: work goes on. */
    public void progress(long step, Map<String, Double> values) {
        long now = System.nanoTime();
        if (progressLost || lastProgress != null && now - lastProgress < PROGRESS_NANOS) {
            return;
        }
        lastProgress = now;
        ProgressReport report = ProgressReport.of(rank, step, values);
        if (!place.isDriver()) {
            LOG.log(Level.INFO, report.line());
            return;
        }
        try {
            store().set(ReportKeys.PROGRESS + rank, report.encoded());
            progressSent = true;
        } catch (RuntimeException gone) {
            progressLost = true;
            lost("report progress any more", gone);
        }
    }

    /** Logs that the driver does not answer; the next report connects anew. */
    private void lost(String what, RuntimeException gone) {
        if (line != null) {
            line.close();
            line = null;
        }
        LOG.log(
                Level.WARNING,
                "rank " + rank + " of " + place.jobId() + " cannot " + what + " to the driver at " + place.endpoint()
                        + ": " + gone.getMessage());
    }

    /** Claims a device of a host; returns the rank that has claimed it before, if there is one. */
    public Optional<Integer> claim(String device) {
        byte[] own = Integer.toString(rank).getBytes(StandardCharsets.US_ASCII);
        byte[] there = store().compareAndSet(ReportKeys.GPU + device, null, own);
        int holder = Integer.parseInt(new String(there, StandardCharsets.US_ASCII));
        return holder == rank ? Optional.empty() : Optional.of(holder);
    }

    /** Closes the connection when the driver has the last progress. */
    @Override
    public void close() {
        if (line == null) {
            return;
        }
        try {
            if (progressSent && !progressLost) {
                // set does not wait, this does
                line.store().add(ReportKeys.SENT, 1);
            }
        } catch (RuntimeException gone) {
            LOG.log(Level.DEBUG, "the last progress of rank " + rank + " may be lost: " + gone.getMessage());
        } finally {
            line.close();
        }
    }
}
