package ferro.spark.meeting;

import ferro.Store;
import ferro.backend.tcp.store.LauncherStore;
import ferro.backend.tcp.store.LauncherStore.LauncherCall;
import ferro.spark.failure.RankFailure;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A rank's connection to the driver's store beside that of its group; opened by its first report. Not thread-safe. */
public final class DriverLine implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final StorePlace place;
    private final int stageAttempt;
    private final int rank;
    private LauncherStore line;
    private Long lastProgress;

    /** Makes the line of a rank in an attempt of its stage; opens nothing. */
    public DriverLine(StorePlace place, int stageAttempt, int rank) {
        this.stageAttempt = stageAttempt;
        this.place = place;
        this.rank = rank;
    }

    private Store store() {
        if (line == null) {
            byte[] secret = place.secured() ? JobSecret.of(place.jobId()).orElse(null) : null;
            LauncherCall call = new LauncherCall(
                    new InetSocketAddress(place.host(), place.port()),
                    place.jobId(),
                    secret,
                    rank,
                    new SecureRandom().nextLong());
            line = LauncherStore.open(call, PATIENCE, PATIENCE);
        }
        return line.store();
    }

    /** Reports a failure; returns when the driver has it. A driver that is gone needs no report. */
    public void failed(RankFailure failure) {
        try {
            store().set(ReportKeys.FAILURE + stageAttempt + "/" + rank, failure.encoded());
            // set does not wait, this does
            store().add(ReportKeys.SENT, 1);
        } catch (RuntimeException gone) {
            LOG.log(
                    Level.WARNING,
                    "rank " + rank + " of " + place.jobId() + " cannot report \"" + failure.message()
                            + "\" to the driver at " + place.endpoint() + ": " + gone.getMessage());
        }
    }

    /** Reports progress, at most once a second. */
    public void progress(long step, Map<String, Double> values) {
        long now = System.nanoTime();
        if (lastProgress == null || now - lastProgress >= PROGRESS_NANOS) {
            lastProgress = now;
            store().set(
                            ReportKeys.PROGRESS + rank,
                            ProgressReport.of(rank, step, values).encoded());
        }
    }

    /** Claims a device of a host; returns the rank that has claimed it before, if there is one. */
    public Optional<Integer> claim(String device) {
        byte[] own = Integer.toString(rank).getBytes(StandardCharsets.US_ASCII);
        byte[] there = store().compareAndSet(ReportKeys.GPU + device, null, own);
        int holder = Integer.parseInt(new String(there, StandardCharsets.US_ASCII));
        return holder == rank ? Optional.empty() : Optional.of(holder);
    }

    @Override
    public void close() {
        if (line != null) {
            line.close();
        }
    }
}
