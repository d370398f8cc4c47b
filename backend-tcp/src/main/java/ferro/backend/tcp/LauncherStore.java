package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.Deadlines;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A launcher's connection to the {@link TcpStoreServer} of the launcher of node 0, by which launchers of several nodes know of
 * each other. It is no rank: it counts for nobody as one, and its keys are its own.
 *
 * <p>The server sets keys by itself: {@link #goneKey} when the connection of a launcher ends, however that comes about,
 * {@link #refusedKey} and {@link #otherJobKey} when a launcher that says it is of that node is refused, and {@link #STRANGER} when a
 * process is that speaks another version of the protocol, so that nobody knows who it is.
 *
 * <p>Any thread may call it.
 */
public final class LauncherStore implements AutoCloseable {
    /** What all keys of launchers begin with; no group that a rank joins is called so. */
    public static final String KEYS = "@nodes/";

    /** The key of a process of which only its address is known; its value is a {@link Refused}. */
    public static final String STRANGER = KEYS + "refused";

    /** Longest wait beyond the dialer's own. */
    private static final long GRACE_NANOS = 500_000_000;

    private final BackgroundLoop loop;
    private final TcpStore store;
    private final InetAddress local;

    private LauncherStore(BackgroundLoop loop, TcpStore store, InetAddress local) {
        this.loop = loop;
        this.store = store;
        this.local = local;
    }

    /**
     * Who calls, and whom.
     *
     * @param server  where the store is
     * @param job     id of the job
     * @param secret  of the job; null or empty means none
     * @param node    number of the calling launcher's node
     * @param session chosen by the caller at random: two launchers may claim one node
     */
    public record Call(InetSocketAddress server, String job, byte[] secret, int node, long session) {}

    /**
     * Connects, and tries again while nobody answers; interruptible.
     *
     * @param call     who calls, and whom
     * @param patience how long to try
     * @param each     longest wait of a call to the store
     * @return connection
     * @throws FerroException RENDEZVOUS if nobody has answered in time, or another job is served there; UNAUTHENTICATED if
     *     the secrets differ; PROTOCOL if the other side is of another version; INTERRUPTED, with the flag set
     */
    public static LauncherStore open(Call call, Duration patience, Duration each) {
        Where where = Where.outside("launchers", call.node);
        boolean secured = call.secret != null && call.secret.length > 0;
        Secret secret = secured ? Secret.of(call.secret) : Secret.none();
        TcpIo io = TcpIo.standard();
        BackgroundLoop loop = new BackgroundLoop(io, "ferro-launcher-store");
        try {
            TcpDialer dialer = new TcpDialer(
                    io, loop.group(), new Credentials(call.job, secret, new SecureRandom()), System::nanoTime);
            String what = "the store at " + Addresses.text(call.server) + " that the launcher of node 0 serves";
            long deadline = System.nanoTime() + Deadlines.nanos(patience);
            Channel channel = dialled(dialer, call(call, what, where, deadline));
            TcpStore.Opening opening =
                    new TcpStore.Opening(what, where, System::nanoTime, System.nanoTime(), each, false, () -> {});
            InetAddress local = ((InetSocketAddress) channel.localAddress()).getAddress();
            return new LauncherStore(loop, new TcpStore(channel, opening), local);
        } catch (RuntimeException | Error failure) {
            loop.close();
            throw failure;
        }
    }

    private static TcpDialer.Call call(Call call, String what, Where where, long deadline) {
        return new TcpDialer.Call(
                () -> call.server,
                Hello.Kind.STORE,
                Hello.Member.ofLauncher(call.node, call.session),
                Hello.Channel.NONE,
                what,
                where,
                deadline);
    }

    private static Channel dialled(TcpDialer dialer, TcpDialer.Call call) {
        CompletableFuture<Channel> dialled = dialer.dial(call);
        try {
            long most = call.deadlineNanos() - System.nanoTime() + GRACE_NANOS;
            return Waits.until(dialled, most, call.where(), () -> call.what() + " did not answer before the deadline");
        } finally {
            dialled.cancel(false);
        }
    }

    /**
     * Returns the store; it goes with this connection.
     *
     * @return store, whose calls fail once the connection has ended
     */
    public Store store() {
        return store;
    }

    /**
     * Returns the address of this machine that the connection uses.
     *
     * @return address by which this launcher is known to that of node 0
     */
    public InetAddress localAddress() {
        return local;
    }

    /**
     * Returns the key that the server sets when the connection of a launcher ends.
     *
     * @param node    of the launcher
     * @param session that the launcher has chosen
     * @return key; its value says nothing
     */
    public static String goneKey(int node, long session) {
        return KEYS + node + "/" + Long.toHexString(session) + "/gone";
    }

    /**
     * Returns the key that the server sets when a launcher of this job cannot prove that it knows the secret. Whoever can reach
     * the port and knows the job's id can bring that about.
     *
     * @param node that the launcher says it is of
     * @return key; its value is a {@link Refused}
     */
    public static String refusedKey(int node) {
        return KEYS + node + "/refused";
    }

    /**
     * Returns the key that the server sets when a launcher of another job is refused. Whoever can reach the port can bring that
     * about.
     *
     * @param node that the launcher says it is of
     * @return key; its value is a {@link Refused}
     */
    public static String otherJobKey(int node) {
        return KEYS + node + "/other";
    }

    /**
     * Says whether somebody answered and said no, so that it helps nobody to try again.
     *
     * @param failure of {@link #open}
     * @return false where nobody answered
     */
    public static boolean isRefusal(FerroException failure) {
        return failure.getCause() instanceof Refusal;
    }

    /**
     * A process that was refused.
     *
     * @param address that it came from
     * @param code    why: UNAUTHENTICATED for a wrong secret, RENDEZVOUS for another job, PROTOCOL for another version
     * @param told    what it was told
     */
    public record Refused(String address, Code code, String told) {
        String encoded() {
            return String.join("\n", address, code.name(), told);
        }

        /**
         * Reads what stands in the store.
         *
         * @param value of a key
         * @return the same
         */
        public static Refused decoded(byte[] value) {
            String[] lines = new String(value, StandardCharsets.UTF_8).split("\n", 3);
            return new Refused(lines[0], Code.valueOf(lines[1]), lines[2]);
        }
    }

    /** Ends the connection; idempotent. */
    @Override
    public void close() {
        store.close();
        loop.close();
    }
}
