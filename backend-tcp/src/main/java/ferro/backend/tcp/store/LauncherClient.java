package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Credentials;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpDialer;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.spi.Deadlines;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A launcher's connection to the {@link TcpStoreServer} of the launcher of node 0. Launchers of several nodes find each
 * other by this store. The store does not count launchers as ranks. Launchers and ranks use separate keys.
 *
 * <p>The server itself sets some keys. The server sets {@link #goneKey} when the connection of a launcher ends for any
 * reason. The server sets {@link #refusedKey} when it refuses a launcher because of a wrong secret. It sets {@link
 * #otherJobKey} when it refuses a launcher for any other reason, for example because of another job. Both keys contain
 * the node number that the launcher has claimed. The server sets {@link #STRANGER} when it refuses a process of another
 * protocol version, because the identity of such a process is unknown.
 *
 * <p>Thread-safe.
 */
public final class LauncherClient implements AutoCloseable {
    /** Prefix of all keys of launchers. No group that a rank joins has this name. */
    public static final String KEYS = "@nodes/";

    /** Key of a refused process of which only the address is known. The value of the key is a {@link RefusedProcess}. */
    public static final String STRANGER = KEYS + "refused";

    private final BackgroundLoop loop;
    private final TcpStore store;
    private final InetAddress local;
    private final InetSocketAddress server;

    private LauncherClient(BackgroundLoop loop, TcpStore store, Channel channel) {
        this.loop = loop;
        this.store = store;
        this.local = ((InetSocketAddress) channel.localAddress()).getAddress();
        this.server = (InetSocketAddress) channel.remoteAddress();
    }

    /**
     * The calling launcher and the store to which it connects.
     *
     * @param server  address of the store; if the address is unresolved, the launcher tries all addresses of the host
     * @param job     id of the job
     * @param secret  secret of the job; null or empty means none
     * @param node    number of the calling launcher's node
     * @param session random number of the caller, which distinguishes two launchers that claim the same node
     */
    public record ConnectOptions(InetSocketAddress server, String job, byte[] secret, int node, long session) {}

    /**
     * Connects to the store. Tries again until a server answers, the timeout is over, or the thread is interrupted.
     *
     * @param call    calling launcher and store
     * @param timeout how long to try
     * @param each    longest wait of a call to the store
     * @return connection
     * @throws FerroException RENDEZVOUS if no server answers in time, or the server is of another job; UNAUTHENTICATED
     *     if the secrets differ; PROTOCOL if the server has another version; INTERRUPTED, with the flag set
     */
    public static LauncherClient open(ConnectOptions call, Duration timeout, Duration each) {
        return open(call, timeout, timeout, each);
    }

    /**
     * Connects like {@link #open(ConnectOptions, Duration, Duration)}, but tries for a shorter time if nothing listens
     * at the address. If a connection is accepted, a server exists, even if the handshake takes long on a busy host.
     *
     * @param call     calling launcher and store
     * @param unserved how long to try if no connection is made
     * @param timeout  total time for all attempts
     * @param each     longest wait of a call to the store
     * @return connection
     * @throws FerroException as {@link #open(ConnectOptions, Duration, Duration)}
     */
    public static LauncherClient open(ConnectOptions call, Duration unserved, Duration timeout, Duration each) {
        Where where = Where.of("launchers", call.node);
        boolean secured = call.secret != null && call.secret.length > 0;
        Secret secret = secured ? Secret.of(call.secret) : Secret.none();
        SocketConfig io = SocketConfig.standard();
        BackgroundLoop loop = new BackgroundLoop(io, "ferro-launcher-store");
        try {
            TlsPolicy tls = TlsPolicy.of(TlsPolicy.TlsMode.AUTO, call.job, "launcher/" + call.node);
            Credentials own = new Credentials(call.job, secret, new SecureRandom(), tls);
            TcpDialer dialer = new TcpDialer(io, loop.group(), own, System::nanoTime);
            String what = "the store at " + AddressLookup.text(call.server.getHostString(), call.server.getPort())
                    + " that the launcher of node 0 serves";
            long begun = System.nanoTime();
            TcpDialer.DialledPeer peer = call(call, what, where, begun + Deadlines.nanos(timeout));
            Channel channel = dialled(dialer, peer, Deadlines.nanos(unserved), System::nanoTime);
            long opened = System.nanoTime();
            TcpStore.StoreOptions opening =
                    new TcpStore.StoreOptions(what, where, System::nanoTime, () -> opened, each, false, () -> {});
            return new LauncherClient(loop, new TcpStore(channel, opening), channel);
        } catch (RuntimeException | Error failure) {
            loop.close();
            throw failure;
        }
    }

    private static TcpDialer.DialledPeer call(ConnectOptions call, String what, Where where, long deadline) {
        List<InetSocketAddress> known = addresses(call.server, what, where);
        return new TcpDialer.DialledPeer(
                () -> known,
                Hello.ConnectionKind.STORE,
                Hello.RankPair.ofLauncher(call.node, call.session),
                Hello.ChannelIdentity.NONE,
                what,
                where,
                deadline);
    }

    private static List<InetSocketAddress> addresses(InetSocketAddress server, String what, Where where) {
        try {
            return server.isUnresolved()
                    ? AddressLookup.toDial(AddressLookup.attempt(server.getHostString(), 0), server.getPort())
                    : List.of(server);
        } catch (UnknownHostException unknown) {
            String text = "cannot connect to " + what + ": no address is known for host " + server.getHostString();
            throw new FerroException(Code.RENDEZVOUS, where, text, unknown);
        }
    }

    static Channel dialled(TcpDialer dialer, TcpDialer.DialledPeer call, long unservedNanos, LongSupplier clock) {
        long begun = clock.getAsLong();
        ConnectAttempts notes = new ConnectAttempts(clock);
        Supplier<FerroException> unserved = () -> notes.allUnserved() && clock.getAsLong() - begun >= unservedNanos
                ? notes.gaveUp(call, begun, null)
                : null;
        return dialer.connected(call, unserved, () -> false, clock, notes).orElseThrow();
    }

    /** {@return the store, whose calls fail once this connection has ended} */
    public Store store() {
        return store;
    }

    /** {@return the local address of the connection, by which the launcher of node 0 identifies this host} */
    public InetAddress localAddress() {
        return local;
    }

    /** {@return the resolved address of the store, which later connections can use without the name service} */
    public InetSocketAddress serverAddress() {
        return server;
    }

    /**
     * Returns the key that the server sets when the connection of a launcher ends.
     *
     * @param node    node of the launcher
     * @param session random number that the launcher has chosen
     * @return key, whose value has no meaning
     */
    public static String goneKey(int node, long session) {
        return KEYS + node + "/" + Long.toHexString(session) + "/gone";
    }

    /**
     * Returns the key that the server sets when a launcher of this job fails to prove that it has the secret. Any
     * process that can reach the port and has the job's id can cause the server to set this key.
     *
     * @param node node that the launcher has claimed
     * @return key, whose value is a {@link RefusedProcess}
     */
    public static String refusedKey(int node) {
        return KEYS + node + "/refused";
    }

    /**
     * Returns the key that the server sets when a launcher of another job is refused. Any process that can reach the
     * port can cause the server to set this key.
     *
     * @param node node that the launcher has claimed
     * @return key, whose value is a {@link RefusedProcess}
     */
    public static String otherJobKey(int node) {
        return KEYS + node + "/other";
    }

    /**
     * Returns whether a server answered with a refusal. After a refusal, another attempt would fail as well.
     *
     * @param failure failure of {@link #open}
     * @return false if no server answered
     */
    public static boolean isRefusal(FerroException failure) {
        return failure.getCause() instanceof Refusal;
    }

    /**
     * A process that the server of the store has refused.
     *
     * @param address remote address of the process
     * @param code    UNAUTHENTICATED for a wrong secret, RENDEZVOUS for another job, PROTOCOL for another version
     * @param told    reason for the refusal, as it was sent to the process
     */
    public record RefusedProcess(String address, Code code, String told) {
        String encoded() {
            return String.join("\n", address, code.name(), told);
        }

        /** Parses a refused process from the value of a store key. */
        public static RefusedProcess decoded(byte[] value) {
            String[] lines = new String(value, StandardCharsets.UTF_8).split("\n", 3);
            return new RefusedProcess(lines[0], Code.valueOf(lines[1]), lines[2]);
        }
    }

    /** Closes the connection; idempotent. */
    @Override
    public void close() {
        store.close();
        loop.close();
    }
}
