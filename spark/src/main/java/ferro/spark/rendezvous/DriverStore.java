package ferro.spark.rendezvous;

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

/** The store that the driver serves for one attempt, with the ranks' reports. Any thread may call the methods. */
public final class DriverStore implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.spark");

    /** The server of the store; null if the driver serves no store. */
    private final TcpStoreServer server;

    private final AttemptRendezvous rendezvous;
    private final int ranks;
    private final Consumer<ProgressReport> progress;
    private final List<RankFailure> failures = new ArrayList<>();
    private int lastAttempt = -1;
    private volatile boolean reached;

    private DriverStore(
            TcpStoreServer server, AttemptRendezvous rendezvous, int ranks, Consumer<ProgressReport> progress) {
        this.server = server;
        this.rendezvous = rendezvous;
        this.ranks = ranks;
        this.progress = progress;
    }

    /** Starts a store for an attempt of a job. */
    public static DriverStore serve(
            SparkContext spark, JobAttempt attempt, PortRange ports, Consumer<ProgressReport> progress) {
        DriverAddress address = DriverAddress.of(spark.master(), spark.getConf());
        InetAddress bound = resolved(address.bind());
        byte[] secret = secret(attempt, bound, "the driver").orElse(null);
        TcpStoreServer server = TcpStoreServer.start(bound, ports, attempt.jobId(), attempt.ranks(), secret);
        AttemptRendezvous rendezvous = new AttemptRendezvous(
                address.host(), server.port(), attempt.job(), attempt.generation(), secret != null);
        DriverStore served = new DriverStore(server, rendezvous, attempt.ranks(), progress);
        server.onSet(served::set);
        return served;
    }

    /** Returns an object without a store, because rank 0 of the attempt serves the store. */
    public static DriverStore none(SparkContext spark, JobAttempt attempt) {
        // if the driver listens on loopback, all executors run on its machine; otherwise they may run on other machines
        InetAddress bound =
                resolved(DriverAddress.of(spark.master(), spark.getConf()).bind());
        boolean secured = secret(attempt, bound, "rank 0").isPresent();
        return new DriverStore(
                null,
                AttemptRendezvous.atRankZero(attempt.job(), attempt.generation(), secured),
                attempt.ranks(),
                report -> {});
    }

    /**
     * Returns the secret of an attempt.
     *
     * @param at   the address of the store
     * @param what the server of the store, for the message of the exception
     * @return the secret; empty if {@code spark.authenticate} is off and the address is a loopback address
     * @throws IllegalArgumentException if {@code spark.authenticate} is off and the address is not a loopback address
     */
    static Optional<byte[]> secret(JobAttempt attempt, InetAddress at, String what) {
        Optional<byte[]> secret = JobSecret.of(attempt.jobId());
        if (secret.isEmpty() && !at.isLoopbackAddress()) {
            throw new IllegalArgumentException(what + " cannot serve the store of job " + attempt.jobId() + " at "
                    + at.getHostAddress() + " without a secret, because other machines can reach this address: set"
                    + " spark.authenticate=true, so that each process can derive the job's secret"
                    + " (spark.driver.bindAddress sets the address of the driver)");
        }
        return secret;
    }

    /** An attempt of a job. */
    public record JobAttempt(String job, int generation, int ranks) {
        /** Returns the wire form of the job's id, which contains the number of the attempt. */
        public String jobId() {
            return JoinOptions.jobId(job, generation);
        }
    }

    /** The address on which the driver listens, and the host name with which executors connect to the driver. */
    record DriverAddress(String bind, String host) {
        private static final String LOOPBACK = "127.0.0.1";

        /**
         * Returns the address of the driver. With a local master the address of the driver is the loopback address,
         * because the executors run on the driver's machine.
         */
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
                    "spark.driver.bindAddress=" + host + " is not an address of this machine: " + unknown, unknown);
        }
    }

    /** Returns whether the driver serves a store to which no rank has written yet. */
    public boolean isUnreached() {
        return server != null && !reached;
    }

    /** Returns the location at which the ranks of the attempt find each other. */
    public AttemptRendezvous rendezvous() {
        return rendezvous;
    }

    /** Receives a value that a rank has written. The thread of the store calls this method. */
    private void set(String key, byte[] value) {
        reached = true;
        try {
            if (key.startsWith(ReportKeys.FAILURE)) {
                String attempt = key.substring(ReportKeys.FAILURE.length(), key.lastIndexOf('/'));
                add(Integer.parseInt(attempt), RankFailure.decoded(value, ranks));
            } else if (key.startsWith(ReportKeys.PROGRESS)) {
                progress.accept(ProgressReport.decoded(value));
            }
        } catch (RuntimeException unreadable) {
            LOG.log(System.Logger.Level.WARNING, "cannot read the report of key " + key + ": " + unreadable);
        }
    }

    /** Adds a report; keeps only reports of the stage's last attempt: Spark repeats a stage after a failed fetch. */
    synchronized void add(int stageAttempt, RankFailure failure) {
        if (stageAttempt > lastAttempt) {
            lastAttempt = stageAttempt;
            failures.clear();
        }
        if (stageAttempt == lastAttempt) {
            failures.add(failure);
        }
    }

    /** Returns the failure reports so far, in the order of arrival. A rank ends only after its report has arrived. */
    public synchronized List<RankFailure> failures() {
        return List.copyOf(failures);
    }

    /** Closes the store. Ranks that still run lose their connection to the store. */
    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
