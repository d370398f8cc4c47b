package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.NettyParts;
import ferro.backend.tcp.store.LauncherStore;
import ferro.backend.tcp.store.LauncherStore.LauncherCall;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;

/**
 * A connection to the store that a {@link TcpStoreServer} serves, for a process that tells its launcher something beside
 * the groups that it joins. It is not counted as a rank. Any thread may call it.
 */
public final class TcpStoreClient implements AutoCloseable {
    private final LauncherStore connection;

    private TcpStoreClient(LauncherStore connection) {
        this.connection = connection;
    }

    /** A store to connect to. */
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
         * @param address address that the server listens on; all addresses of its host are tried if it is unresolved
         * @param jobId job that the server has been started with
         * @param secret the job's secret; null or empty means none
         * @param number number of the caller for messages: its rank
         * @return address
         */
        public static StoreAddress of(InetSocketAddress address, String jobId, byte[] secret, int number) {
            return new StoreAddress(address, jobId, secret, number);
        }

        /** {@return the address that the server listens on; all addresses of its host are tried if it is unresolved} */
        public InetSocketAddress address() {
            return address;
        }

        /** {@return the job that the server has been started with} */
        public String jobId() {
            return jobId;
        }

        /** {@return the job's secret; null or empty means none} */
        public byte[] secret() {
            return secret;
        }

        /** {@return the number of the caller for messages: its rank} */
        public int number() {
            return number;
        }
    }

    /**
     * Connects, and tries again while no server answers. An interrupt ends it.
     *
     * @param store   where the store is
     * @param timeout how long to try, and the longest wait of each call of the store
     * @return connection, to be closed
     * @throws FerroException RENDEZVOUS if no server has answered in time, another job is served there, or ferro cannot run
     *     with the Netty of the class path; UNAUTHENTICATED if the secrets differ; PROTOCOL if the other side is of another version; INTERRUPTED, with the flag set
     */
    public static TcpStoreClient open(StoreAddress store, Duration timeout) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(timeout, "timeout");
        LauncherCall call =
                new LauncherCall(store.address, store.jobId, store.secret, store.number, new SecureRandom().nextLong());
        return NettyParts.with(
                Where.of("store", store.number), () -> new TcpStoreClient(LauncherStore.open(call, timeout, timeout)));
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
