package ferro.backend.tcp.connect;

import ferro.FerroException.Code;
import ferro.backend.tcp.tls.PemIdentityFiles;
import ferro.backend.tcp.tls.TlsIdentity;
import ferro.backend.tcp.tls.TlsProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.function.Supplier;

/**
 * Which connections of this process are encrypted, and the key for them: a company's, or one that is made when the first of them
 * needs it. Any thread may use it.
 */
public final class TlsPolicy {
    private final TlsUse use;
    private final String uri;
    /** Where a company's certificates are; null without. */
    private final PemIdentityFiles company;

    private final Supplier<TlsProvider> provider;

    private TlsIdentity made;

    private TlsPolicy(TlsUse use, String uri, Supplier<TlsProvider> provider, PemIdentityFiles company) {
        this.use = use;
        this.uri = uri;
        this.provider = provider;
        this.company = company;
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
        return of(use, job, owner, TlsProvider::fastest, null);
    }

    /**
     * Makes the policy of a process that may have certificates of a company.
     *
     * @param use      when to encrypt
     * @param job      id of the job
     * @param owner    the process in its job
     * @param provider whose engines encrypt; asked when the first connection needs one
     * @param company  files of the certificates, or null without
     */
    static TlsPolicy of(
            TlsUse use, String job, String owner, Supplier<TlsProvider> provider, PemIdentityFiles company) {
        String uri = "ferro://" + job.replaceAll("[^A-Za-z0-9._~-]", "_") + "/" + owner;
        return new TlsPolicy(use, uri, provider, company);
    }

    /** Returns whose engines encrypt. */
    public TlsProvider provider() {
        return provider.get();
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
     * @throws Refusal               UNAUTHENTICATED if the dates of a company's certificate do not hold
     */
    public void prepare(boolean between) throws Refusal {
        if (encrypts(between)) {
            ownIdentity();
        }
    }

    /**
     * Returns the key of this process for a connection that it makes.
     *
     * @throws Refusal UNAUTHENTICATED if the dates of a company's certificate do not hold, which the other side would refuse
     */
    TlsIdentity ownIdentity() throws Refusal {
        TlsIdentity own = identity();
        try {
            own.checkDates();
            return own;
        } catch (IOException wrong) {
            throw new Refusal(Code.UNAUTHENTICATED, wrong.getMessage());
        }
    }

    /**
     * Returns whether the certificates of the other side are judged where this side has those of a company. A store may be that of
     * a launcher or a driver, which have none: whoever has the job's secret may use it.
     */
    static boolean judges(Hello.ConnectionKind kind) {
        return kind != Hello.ConnectionKind.STORE;
    }

    /** Returns what this side says of TLS on a connection that it would leave plain. */
    Hello.TlsWish otherwise() {
        return use == TlsUse.OFF ? Hello.TlsWish.PLAIN : Hello.TlsWish.EITHER;
    }

    /** Returns the key of this process; that of a company may be another one from now on each time. */
    TlsIdentity identity() {
        return company == null ? made() : company.identity();
    }

    private synchronized TlsIdentity made() {
        if (made == null) {
            made = TlsIdentity.fresh(uri, provider.get());
        }
        return made;
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
