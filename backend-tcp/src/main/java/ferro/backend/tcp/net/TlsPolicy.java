package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.LogLines;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
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
     * @param provider whose engines encrypt; asked when the first connection needs one
     * @param company  files of the certificates, or null without
     */
    static TlsPolicy of(
            TlsUse use, String job, String owner, Supplier<TlsProvider> provider, PemIdentityFiles company) {
        String uri = "ferro://" + job.replaceAll("[^A-Za-z0-9._~-]", "_") + "/" + owner;
        return new TlsPolicy(use, uri, provider, company);
    }

    /**
     * Makes the policy of a rank.
     *
     * @param secret the job's secret, or none
     * @throws FerroException UNAUTHENTICATED if all shall be encrypted and there is no secret, or if certificates are given that
     *     cannot be used; RESOURCE if the provider that is asked for is not there
     */
    public static TlsPolicy of(RankContext context, Secret secret, Where where) {
        return new TlsSettings(context, where).policy(secret);
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
    boolean encrypts(boolean between) {
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

    /** Reads the settings of TLS of one rank: when to encrypt, and where a company's certificates are. */
    static final class TlsSettings {
        private static final List<Setting<String>> FILES =
                List.of(Settings.TLS_CERTIFICATE, Settings.TLS_KEY, Settings.TLS_TRUST);

        private final RankContext context;
        private final Where where;

        private TlsSettings(RankContext context, Where where) {
            this.context = context;
            this.where = where;
        }

        private TlsPolicy policy(Secret secret) {
            TlsPolicy.TlsUse use =
                    TlsPolicy.TlsUse.valueOf(Settings.TLS.of(context).toUpperCase(Locale.ROOT));
            if (use == TlsPolicy.TlsUse.ON && !secret.present()) {
                throw refused("ferro.tls=on but no secret that could authenticate its key: give all ranks the same "
                        + "FERRO_SECRET_FILE");
            }
            String job = Settings.JOB_ID.of(context);
            Supplier<TlsProvider> provider = provider();
            PemIdentityFiles company = use == TlsPolicy.TlsUse.OFF ? null : company(provider);
            return TlsPolicy.of(use, job, "rank/" + where.rank(), provider, company);
        }

        private Supplier<TlsProvider> provider() {
            String wanted = Settings.TLS_PROVIDER.of(context);
            String missing = wanted.equals("openssl") ? TlsProvider.missingOpenSsl() : null;
            if (missing != null) {
                throw new FerroException(Code.RESOURCE, where, has("ferro.tls.provider=openssl, but " + missing));
            }
            return switch (wanted) {
                case "jdk" -> () -> TlsProvider.JDK;
                case "openssl" -> () -> TlsProvider.OPENSSL;
                default -> TlsProvider::fastest;
            };
        }

        private PemIdentityFiles company(Supplier<TlsProvider> provider) {
            List<String> given = new ArrayList<>();
            List<String> missing = new ArrayList<>();
            for (Setting<String> one : FILES) {
                (one.find(context).isPresent() ? given : missing).add(one.name());
            }
            String name = Settings.TLS_NAME.find(context).orElse(null);
            if (given.isEmpty() && name == null) {
                return null;
            }
            if (!missing.isEmpty()) {
                throw refused((name == null ? String.join(", ", given) : Settings.TLS_NAME.name()) + " without "
                        + String.join(", ", missing) + ": set all of "
                        + String.join(", ", FILES.stream().map(Setting::name).toList()) + ", or none");
            }
            try {
                Path key = file(Settings.TLS_KEY);
                PemIdentityFiles read = PemIdentityFiles.read(
                        file(Settings.TLS_CERTIFICATE), key, file(Settings.TLS_TRUST), name, provider.get());
                openToAll(key)
                        .filter(text -> OncePerContext.isFirst(context, text))
                        .ifPresent(TlsSettings::warn);
                return read;
            } catch (IOException wrong) {
                throw refused("unusable certificates: " + wrong.getMessage());
            }
        }

        private static void warn(String text) {
            LogLines.write("ferro.join", Level.WARNING, text);
        }

        private Path file(Setting<String> setting) {
            return Path.of(setting.of(context));
        }

        /**
         * Returns what to warn of where a key is open to others. It is no error: certificates that an orchestrator puts into a container
         * can often be read by all that is in it.
         */
        static Optional<String> openToAll(Path key) throws IOException {
            if (!key.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                return Optional.empty();
            }
            Set<PosixFilePermission> mode = Files.getPosixFilePermissions(key);
            return mode.contains(PosixFilePermission.OTHERS_READ)
                    ? Optional.of("every user of this host can read the key " + key + " ("
                            + PosixFilePermissions.toString(mode) + "): chmod 600 " + key)
                    : Optional.empty();
        }

        private FerroException refused(String what) {
            return new FerroException(Code.UNAUTHENTICATED, where, has(what));
        }

        private String has(String what) {
            return "rank " + where.rank() + " of \"" + where.group() + "\" has " + what;
        }
    }
}
