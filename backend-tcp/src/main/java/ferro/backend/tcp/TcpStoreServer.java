package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.Credentials;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpListener;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.net.UnauthenticatedPeerLog;
import ferro.backend.tcp.store.JoinDetector;
import ferro.backend.tcp.store.StoreConnectionReceiver;
import ferro.backend.tcp.store.StoreService;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.PlainLoggers;
import ferro.spi.PortRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

/**
 * A rendezvous store on its own port, which a launcher serves for its ranks. The ranks find the store by
 * {@code MASTER_ADDR} and {@code MASTER_PORT}. The variable {@code FERRO_STORE_SERVED=1} prevents rank 0 from serving
 * another store.
 */
public final class TcpStoreServer implements AutoCloseable {
    private final BackgroundLoop loop;
    private final TcpListener listener;
    private final StoreService service;
    private final JoinDetector watch;
    private final InetSocketAddress bound;
    private volatile BiConsumer<String, byte[]> whenSet = (key, value) -> {};
    private volatile BiConsumer<String, String> whenOtherJob = (job, from) -> {};

    private TcpStoreServer(InetAddress address, PortRange ports, Credentials own, int worldSize) {
        SocketConfig io = SocketConfig.standard();
        watch = new JoinDetector(worldSize);
        service = new StoreService((key, value) -> {
            watch.set(key, value);
            whenSet.accept(key, value);
        });
        loop = new BackgroundLoop(io, "ferro-store");
        listener = new TcpListener(
                own,
                new StoreConnectionReceiver(service, (job, from) -> whenOtherJob.accept(job, from)),
                new UnauthenticatedPeerLog(PlainLoggers.logger("ferro.tcp"), System::nanoTime));
        listener.expectRanks(worldSize);
        try {
            bound = bind(address, ports, io);
        } catch (Refusal none) {
            loop.close();
            throw none.failure(Where.of("", -1), "the store of job \"" + own.job() + "\"");
        }
    }

    /** Binds the first free port of the range. */
    private InetSocketAddress bind(InetAddress address, PortRange ports, SocketConfig io) throws Refusal {
        IOException last = null;
        for (int port = ports.first(); port <= ports.last(); port++) {
            try {
                return listener.bind(io, loop, new InetSocketAddress(address, port));
            } catch (IOException taken) {
                last = taken;
            }
        }
        Refusal refusal = TcpListener.notBound(new InetSocketAddress(address, ports.last()), last);
        throw ports.size() == 1
                ? refusal
                : new Refusal(
                        Code.RENDEZVOUS,
                        "none of the " + ports.size() + " ports " + ports + " is free; the last one: "
                                + refusal.getMessage());
    }

    /**
     * Binds exactly this address and serves the store until it is closed.
     *
     * @param address   address of this host; without a secret only a loopback address
     * @param port      port, or 0 for any free port
     * @param jobId     job whose ranks may connect; at most 64 bytes
     * @param worldSize number of ranks expected; limits how many handshakes run at the same time
     * @param secret    the job's secret; null or empty means none; copied
     * @return server
     * @throws FerroException RENDEZVOUS if the address cannot be bound or ferro cannot run with the Netty of the class
     *     path; UNAUTHENTICATED if the address is not loopback and the secret has fewer than 16 random bytes
     */
    public static TcpStoreServer start(InetAddress address, int port, String jobId, int worldSize, byte[] secret) {
        return start(address, new PortRange(port, port), jobId, worldSize, secret);
    }

    /**
     * Binds the first free port of a range at an address and serves the store until it is closed.
     *
     * @param address   address of this host; without a secret only a loopback address
     * @param ports     ports, tried in order; {@code 0} for any free port
     * @param jobId     job whose ranks may connect, at most 64 bytes. For ranks that use {@code JoinOptions.job(name,
     *     generation)}, the job id is {@code name.generation}
     * @param worldSize number of ranks expected; limits how many handshakes run at the same time
     * @param secret    the job's secret; null or empty means none; copied
     * @return server
     * @throws FerroException RENDEZVOUS if no port can be bound or ferro cannot run with the Netty of the class path;
     *     UNAUTHENTICATED if the address is not loopback and the secret has fewer than 16 random bytes
     */
    public static TcpStoreServer start(
            InetAddress address, PortRange ports, String jobId, int worldSize, byte[] secret) {
        return NettyModules.with(Where.of("store", -1), () -> started(address, ports, jobId, worldSize, secret));
    }

    private static TcpStoreServer started(
            InetAddress address, PortRange ports, String jobId, int worldSize, byte[] secret) {
        Secret known = secret == null || secret.length == 0 ? Secret.none() : Secret.of(secret);
        TcpPort.checkOpen(address, known, Where.of("store", -1));
        Credentials own = new Credentials(
                jobId, known, new SecureRandom(), TlsPolicy.of(TlsPolicy.TlsMode.FOLLOW, jobId, "store"));
        return new TcpStoreServer(address, ports, own, worldSize);
    }

    /** {@return the port at which the server listens} */
    public int port() {
        return bound.getPort();
    }

    /**
     * {@return the host and port by which ranks reach the store, for example {@code 10.0.0.1:29500}; an IPv6 address is
     * in brackets}
     */
    public String endpoint() {
        return AddressLookup.text(bound);
    }

    /**
     * {@return a stage that completes when every rank of the job has joined one group. If a rank never joins, the stage
     * never completes. The stage completes on the store's thread, which must not be blocked. After the stage has
     * completed, no process has to read the job's secret again}
     */
    public CompletionStage<Void> allJoined() {
        return watch.allJoined();
    }

    /**
     * Calls a listener for every key of the store, and after that for every later {@code set} of a client. With this
     * listener, the process that serves the store receives what ranks publish, without a connection to the store. A
     * later {@code add}, {@code compareAndSet} or {@code delete} does not call the listener. The listener also receives
     * the keys by which ranks join. Choose distinct names for your keys, such as {@code @spark/failure/2}.
     *
     * @param listener receives key and value on the store's thread, which must not be blocked. The keys that the store
     *     already has come first, in any order. Later keys come in the order in which the store processes them. If the
     *     listener throws, the connection of the client that has set the key ends. A new listener replaces the previous
     *     listener
     */
    public void onSet(BiConsumer<String, byte[]> listener) {
        Objects.requireNonNull(listener, "listener");
        loop.run(() -> {
            service.map.forEach(listener);
            whenSet = listener;
        });
    }

    /**
     * Calls a listener each time that the store refuses a process because it belongs to another job, or to another
     * generation of this job. The refused process is not authenticated. Any process that reaches the port can claim any
     * job.
     *
     * @param listener receives the id of the other job and the address of the process. The listener runs on the store's
     *     thread, which must not be blocked. A new listener replaces the previous listener
     */
    public void onOtherJob(BiConsumer<String, String> listener) {
        whenOtherJob = Objects.requireNonNull(listener, "listener");
    }

    /**
     * Sets a key of the store, without a connection to the store. This method does not call the listener of {@link
     * #onSet}. Any thread may call this method. The method does not wait. A store that is full or closed ignores the
     * call.
     *
     * @param key   key; choose a distinct name, as for {@link #onSet}
     * @param value value; copied
     */
    public void set(String key, byte[] value) {
        byte[] copy = value.clone();
        loop.run(() -> service.note(key, copy));
    }

    /** Closes all client connections and releases the port; idempotent. */
    @Override
    public void close() {
        listener.close();
        loop.run(service::close);
        loop.close();
    }
}
