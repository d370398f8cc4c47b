package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.connect.BackgroundLoop;
import ferro.backend.tcp.connect.Credentials;
import ferro.backend.tcp.connect.Secret;
import ferro.backend.tcp.connect.StrangerLog;
import ferro.backend.tcp.connect.TcpIo;
import ferro.backend.tcp.connect.TcpListener;
import ferro.backend.tcp.rendezvous.JoinWatch;
import ferro.backend.tcp.rendezvous.TcpPort;
import ferro.backend.tcp.store.StoreGuest;
import ferro.backend.tcp.store.StoreService;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.concurrent.CompletionStage;

/**
 * A rendezvous store on its own port, for a launcher that serves its ranks. The ranks find it by {@code MASTER_ADDR} and
 * {@code MASTER_PORT}; {@code FERRO_STORE_SERVED=1} tells them that rank 0 must not serve.
 */
public final class TcpStoreServer implements AutoCloseable {
    private final BackgroundLoop loop;
    private final TcpListener listener;
    private final StoreService service;
    private final JoinWatch watch;
    private final InetSocketAddress bound;

    private TcpStoreServer(InetSocketAddress bind, Credentials own, int worldSize) {
        TcpIo io = TcpIo.standard();
        watch = new JoinWatch(worldSize);
        service = new StoreService(watch::set);
        loop = new BackgroundLoop(io, "ferro-store");
        listener = new TcpListener(
                own, new StoreGuest(service), new StrangerLog(System.getLogger("ferro.tcp"), System::nanoTime));
        listener.expectRanks(worldSize);
        try {
            bound = listener.bind(io, loop, bind);
        } catch (IOException taken) {
            loop.close();
            throw TcpListener.notBound(bind, taken)
                    .failure(Where.outside("", -1), "the store of job \"" + own.job() + "\"");
        }
    }

    /**
     * Binds exactly this address and serves until closed.
     *
     * @param address   address of this machine; without a secret only a loopback address
     * @param port      port, or 0 for any free one
     * @param jobId     job whose ranks may connect; at most 64 bytes
     * @param worldSize number of ranks expected, for the number of handshakes at once
     * @param secret    the job's secret; null or empty means none; copied
     * @return server
     * @throws FerroException RENDEZVOUS if it cannot be bound, UNAUTHENTICATED for an open address without a secret
     */
    public static TcpStoreServer start(InetAddress address, int port, String jobId, int worldSize, byte[] secret) {
        Secret known = secret == null || secret.length == 0 ? Secret.none() : Secret.of(secret);
        TcpPort.checkOpen(address, known, Where.outside("store", -1));
        Credentials own = new Credentials(jobId, known, new SecureRandom());
        return new TcpStoreServer(new InetSocketAddress(address, port), own, worldSize);
    }

    /**
     * Returns the port.
     *
     * @return port listened on
     */
    public int port() {
        return bound.getPort();
    }

    /**
     * Returns a stage that completes when every rank of the job has joined one group. The job's secret need not be read
     * again after that.
     *
     * @return completes on the store's thread, which must not be blocked; never completes if the ranks do not join
     */
    public CompletionStage<Void> allJoined() {
        return watch.allJoined();
    }

    /** Closes all client connections and releases the port; idempotent. */
    @Override
    public void close() {
        listener.close();
        loop.run(service::close);
        loop.close();
    }
}
