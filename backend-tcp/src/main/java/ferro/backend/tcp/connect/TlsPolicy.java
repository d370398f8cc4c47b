package ferro.backend.tcp.connect;

import ferro.backend.tcp.tls.TlsIdentity;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Locale;

/**
 * Which connections of this process are encrypted, and the key for them, which is made when the first of them needs it. Any
 * thread may use it.
 */
public final class TlsPolicy {
    private final TlsUse use;
    private final String uri;
    private TlsIdentity identity;

    private TlsPolicy(TlsUse use, String uri) {
        this.use = use;
        this.uri = uri;
    }

    /** When a process encrypts. */
    public enum TlsUse {
        /** Connections to other hosts. */
        AUTO,
        /** All connections. */
        ON,
        /** No connection. */
        OFF,
        /** Connections to other hosts, but of a side that is OFF none: what a store does that has no settings. */
        FOLLOW
    }

    /**
     * Makes the policy of one process.
     *
     * @param use   when to encrypt
     * @param job   id of the job, for the name in the certificate
     * @param owner the process in its job, as {@code rank/3}
     */
    public static TlsPolicy of(TlsUse use, String job, String owner) {
        return new TlsPolicy(use, "ferro://" + job.replaceAll("[^A-Za-z0-9._~-]", "_") + "/" + owner);
    }

    /** Reads {@code ferro.tls}. */
    public static TlsUse use(RankContext context) {
        return TlsUse.valueOf(Settings.TLS.of(context).toUpperCase(Locale.ROOT));
    }

    /** Returns when this process encrypts. */
    public TlsUse use() {
        return use;
    }

    /** Returns whether this side wants a connection encrypted, by what it sees of the connection. */
    boolean wants(boolean carriesNothing, boolean local) {
        return switch (use) {
            case ON -> !carriesNothing;
            case AUTO, FOLLOW -> !carriesNothing && !local;
            case OFF -> false;
        };
    }

    /** Returns whether connections are encrypted that go, or do not go, between hosts. */
    public boolean encrypts(boolean between) {
        return wants(false, !between);
    }

    /**
     * Makes the key now, on this thread, if connections will be encrypted: the loop that would make it serves others too.
     *
     * @param between whether connections may go between hosts
     * @throws IllegalStateException if this Java runtime cannot make one
     */
    public void prepare(boolean between) {
        if (encrypts(between)) {
            identity();
        }
    }

    /** Returns what this side says of TLS on a connection that it would leave plain. */
    Hello.TlsWish otherwise() {
        return use == TlsUse.OFF ? Hello.TlsWish.PLAIN : Hello.TlsWish.EITHER;
    }

    /** Returns the key of this process. */
    synchronized TlsIdentity identity() {
        if (identity == null) {
            identity = TlsIdentity.fresh(uri);
        }
        return identity;
    }

    /** Returns whether an address is one of this machine, as far as the side that connects can see. */
    public static boolean isOwn(InetAddress address) {
        try {
            return address != null
                    && (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null);
        } catch (SocketException unknown) {
            return false;
        }
    }

    /** Returns whether both ends of an accepted connection are on this machine: such a connection has one address. */
    static boolean isWithin(InetAddress local, InetAddress remote) {
        return local != null
                && remote != null
                && (local.equals(remote) || local.isLoopbackAddress() && remote.isLoopbackAddress());
    }
}
