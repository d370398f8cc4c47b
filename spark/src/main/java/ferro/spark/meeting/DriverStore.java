package ferro.spark.meeting;

import ferro.backend.tcp.TcpStoreServer;
import ferro.group.JoinOptions;
import ferro.spark.failure.RankFailure;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** The store of one attempt, which the driver serves, and what ranks report there. Any thread may call it. */
public final class DriverStore implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");

    /** Null if the driver serves none. */
    private final TcpStoreServer server;

    private final StorePlace place;
    private final Consumer<ProgressReport> progress;
    private final List<RankFailure> failures = new ArrayList<>();
    private int lastAttempt = -1;
    private volatile boolean reached;

    private DriverStore(TcpStoreServer server, StorePlace place, Consumer<ProgressReport> progress) {
        this.server = server;
        this.place = place;
        this.progress = progress;
    }

    /** Serves a store for an attempt of a job. */
    public static DriverStore serve(
            SparkContext spark, JobAttempt attempt, PortRange ports, Consumer<ProgressReport> progress) {
        DriverAddress address = DriverAddress.of(spark.master(), spark.getConf());
        InetAddress bound = resolved(address.bind());
        byte[] secret =
                secret(attempt, bound, "the driver would serve the store of").orElse(null);
        TcpStoreServer server = TcpStoreServer.start(bound, ports, attempt.jobId(), attempt.ranks(), secret);
        StorePlace place =
                new StorePlace(address.host(), server.port(), attempt.job(), attempt.generation(), secret != null);
        DriverStore served = new DriverStore(server, place, progress);
        server.onSet(served::set);
        return served;
    }

    /** Serves no store, because rank 0 of the attempt does. */
    public static DriverStore none(SparkContext spark, JobAttempt attempt) {
        // executors are where the driver is, or on other machines, too
        InetAddress near =
                resolved(DriverAddress.of(spark.master(), spark.getConf()).bind());
        boolean secured =
                secret(attempt, near, "rank 0 would serve the store of").isPresent();
        return new DriverStore(null, StorePlace.atRankZero(attempt.job(), attempt.generation(), secured), report -> {});
    }

    /** Returns the secret of an attempt whose store is served at an address; empty on loopback without one. */
    static Optional<byte[]> secret(JobAttempt attempt, InetAddress at, String what) {
        Optional<byte[]> secret = JobSecret.of(attempt.jobId());
        if (secret.isEmpty() && !at.isLoopbackAddress()) {
            throw new IllegalArgumentException(what + " job " + attempt.jobId() + " at " + at.getHostAddress()
                    + ", which other machines can reach, without a secret: set spark.authenticate=true,"
                    + " of which each process derives the job's secret (spark.driver.bindAddress says where the driver"
                    + " listens)");
        }
        return secret;
    }

    /** An attempt of a job. */
    public record JobAttempt(String job, int generation, int ranks) {
        /** Returns the id of the job and its attempt, as it stands on the wire. */
        public String jobId() {
            return JoinOptions.jobId(job, generation);
        }
    }

    /** Where the driver listens, and the name by which executors reach it. */
    record DriverAddress(String bind, String host) {
        private static final String LOOPBACK = "127.0.0.1";

        /** Executors of a local master are in this process, or beside it. */
        static DriverAddress of(String master, SparkConf conf) {
            if (master.startsWith("local")) {
                return new DriverAddress(LOOPBACK, LOOPBACK);
            }
            String host = conf.get("spark.driver.host");
            return new DriverAddress(conf.get("spark.driver.bindAddress", host), host);
        }
    }

    private static InetAddress resolved(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException unknown) {
            throw new IllegalArgumentException(
                    "spark.driver.bindAddress=" + host + " is no address of this machine: " + unknown, unknown);
        }
    }

    /** Returns whether there is a store, and no rank has written there. */
    public boolean isUnreached() {
        return server != null && !reached;
    }

    /** Returns where the ranks meet. */
    public StorePlace place() {
        return place;
    }

    /** Takes what a rank writes; on the store's thread. */
    private void set(String key, byte[] value) {
        reached = true;
        try {
            if (key.startsWith(ReportKeys.FAILURE)) {
                String attempt = key.substring(ReportKeys.FAILURE.length(), key.lastIndexOf('/'));
                add(Integer.parseInt(attempt), RankFailure.decoded(value));
            } else if (key.startsWith(ReportKeys.PROGRESS)) {
                progress.accept(ProgressReport.decoded(value));
            }
        } catch (RuntimeException unreadable) {
            LOG.log(System.Logger.Level.WARNING, "a report under " + key + " cannot be read: " + unreadable);
        }
    }

    /** Spark tries a stage again whose fetch failed: only the last attempt counts. */
    private synchronized void add(int stageAttempt, RankFailure failure) {
        if (stageAttempt > lastAttempt) {
            lastAttempt = stageAttempt;
            failures.clear();
        }
        if (stageAttempt == lastAttempt) {
            failures.add(failure);
        }
    }

    /** Returns the reports of failures so far, first ones first. A rank ends after its report has come. */
    public synchronized List<RankFailure> failures() {
        return List.copyOf(failures);
    }

    /** Closes the store; ranks that still run lose it. */
    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
