package ferro.spark.rendezvous;

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
 * A connection of one rank to the driver's store. The rank's group has another connection to the same store. The first
 * report opens this connection. This connection is not thread-safe.
 *
 * <p>If the driver serves no store, no report is sent: the rank logs its progress, and the driver learns of a failure
 * from Spark.
 */
public final class DriverStoreClient implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final AttemptRendezvous rendezvous;
    private final int stageAttempt;
    private final int rank;
    private TcpStoreClient line;
    private Long lastProgress;
    private boolean progressLost;
    private boolean progressSent;

    /** Creates the line of a rank in an attempt of its stage. The constructor opens no connection. */
    public DriverStoreClient(AttemptRendezvous rendezvous, int stageAttempt, int rank) {
        this.stageAttempt = stageAttempt;
        this.rendezvous = rendezvous;
        this.rank = rank;
    }

    private Store store() {
        if (line == null) {
            byte[] secret =
                    rendezvous.secured() ? JobSecret.of(rendezvous.jobId()).orElse(null) : null;
            InetSocketAddress at = InetSocketAddress.createUnresolved(rendezvous.host(), rendezvous.port());
            line = TcpStoreClient.open(StoreAddress.of(at, rendezvous.jobId(), secret, rank), TIMEOUT);
        }
        return line.store();
    }

    /** Reports a failure. Returns when the driver has received the report, or when the driver does not answer. */
    public void failed(RankFailure failure) {
        if (!rendezvous.isDriver()) {
            return;
        }
        try {
            store().set(ReportKeys.FAILURE + stageAttempt + "/" + rank, failure.value());
            // set does not wait for an answer of the store, but add waits
            store().add(ReportKeys.SENT, 1);
        } catch (RuntimeException gone) {
            lost("report \"" + failure.failure().text() + "\"", gone);
        }
    }

    /**
     * Reports progress to the driver, at most once a second. If the driver does not answer, this object drops the
     * report and all later reports, so that the rank continues its work.
     */
    public void progress(long step, Map<String, Double> values) {
        long now = System.nanoTime();
        if (progressLost || lastProgress != null && now - lastProgress < PROGRESS_NANOS) {
            return;
        }
        lastProgress = now;
        ProgressReport report = ProgressReport.of(rank, step, values);
        if (!rendezvous.isDriver()) {
            LOG.log(Level.INFO, report.line());
            return;
        }
        try {
            store().set(ReportKeys.PROGRESS + rank, report.encoded());
            progressSent = true;
        } catch (RuntimeException gone) {
            progressLost = true;
            lost("report further progress", gone);
        }
    }

    /** Logs that the driver does not answer, and closes the connection. The next report opens a new connection. */
    private void lost(String what, RuntimeException gone) {
        if (line != null) {
            line.close();
            line = null;
        }
        LOG.log(
                Level.WARNING,
                "rank " + rank + " of " + rendezvous.jobId() + " cannot " + what + " to the driver at "
                        + rendezvous.endpoint() + ": " + gone.getMessage());
    }

    /** Claims a device of a host. Returns the rank that claimed it earlier; empty if no other rank has claimed it. */
    public Optional<Integer> claim(String device) {
        byte[] own = Integer.toString(rank).getBytes(StandardCharsets.US_ASCII);
        byte[] stored = store().compareAndSet(ReportKeys.GPU + device, null, own);
        int holder = Integer.parseInt(new String(stored, StandardCharsets.US_ASCII));
        return holder == rank ? Optional.empty() : Optional.of(holder);
    }

    /** Closes the connection after the driver has received the last progress report. */
    @Override
    public void close() {
        if (line == null) {
            return;
        }
        try {
            if (progressSent && !progressLost) {
                // set does not wait for an answer of the store, but add waits
                line.store().add(ReportKeys.SENT, 1);
            }
        } catch (RuntimeException gone) {
            LOG.log(Level.DEBUG, "the last progress report of rank " + rank + " may be lost: " + gone.getMessage());
        } finally {
            line.close();
        }
    }
}
