package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.store.LauncherClient;
import ferro.backend.tcp.store.LauncherClient.ConnectOptions;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;

/**
 * A connection to the store of a {@link TcpStoreServer}. A process uses the connection to publish data to its launcher,
 * independently of the groups that the process joins. The store does not count the connection as a rank. Thread-safe.
 */
public final class TcpStoreClient implements AutoCloseable {
    private final LauncherClient connection;

    private TcpStoreClient(LauncherClient connection) {
        this.connection = connection;
    }

    /** The address of a store, with the job and the secret of the store. */
    public static final class StoreAddress {
        private final InetSocketAddress address;
        private final String jobId;
        private final byte[] secret;
        private final int number;

        private StoreAddress(InetSocketAddress address, String jobId, byte[] secret, int number) {
            Objects.requireNonNull(address, "address");
            Objects.requireNonNull(jobId, "jobId");
            this.address = address;
            this.jobId = jobId;
            this.secret = secret;
            this.number = number;
        }

        /**
         * Creates the address of a store.
         *
         * @param address address at which the server listens; if the address is unresolved, all addresses of the host
         *     are tried
         * @param jobId id of the job with which the server was started
         * @param secret the job's secret; null or empty means none
         * @param number rank of the caller; failure messages name this rank
         * @return address
         */
        public static StoreAddress of(InetSocketAddress address, String jobId, byte[] secret, int number) {
            return new StoreAddress(address, jobId, secret, number);
        }

        /** {@return the address of the server; if the address is unresolved, all addresses of the host are tried} */
        public InetSocketAddress address() {
            return address;
        }

        /** {@return the id of the job with which the server was started} */
        public String jobId() {
            return jobId;
        }

        /** {@return the job's secret; null or empty means none} */
        public byte[] secret() {
            return secret;
        }

        /** {@return the rank of the caller; failure messages name this rank} */
        public int number() {
            return number;
        }
    }

    /**
     * Connects to a store. Tries again until a server answers, the timeout is over, or the thread is interrupted.
     *
     * @param store   address of the store
     * @param timeout how long to try; also the longest wait of each call of the store
     * @return connection, which the caller must close
     * @throws FerroException RENDEZVOUS if no server answers in time, the server is of another job, or ferro cannot run
     *     with the Netty of the class path; UNAUTHENTICATED if the secrets differ; PROTOCOL if the server has another
     *     version; INTERRUPTED, with the interrupt flag set
     */
    public static TcpStoreClient open(StoreAddress store, Duration timeout) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(timeout, "timeout");
        ConnectOptions call = new ConnectOptions(
                store.address, store.jobId, store.secret, store.number, new SecureRandom().nextLong());
        return NettyModules.with(
                Where.of("store", store.number), () -> new TcpStoreClient(LauncherClient.open(call, timeout, timeout)));
    }

    /** {@return the store, whose calls fail once this connection has ended} */
    public Store store() {
        return connection.store();
    }

    /** Closes the connection; idempotent. */
    @Override
    public void close() {
        connection.close();
    }
}
