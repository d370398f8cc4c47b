package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
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
 * Decides which connections of this process are encrypted, and has the key for these connections. The key comes from
 * PEM files, or is created for the first connection that needs a key. Thread-safe.
 */
public final class TlsPolicy {
    private final TlsMode use;
    private final String uri;
    /** The files of a key and certificates of the user's own CA; null without such files. */
    private final PemIdentityFiles company;

    private final Supplier<TlsProvider> provider;

    private TlsIdentity made;

    private TlsPolicy(TlsMode use, String uri, Supplier<TlsProvider> provider, PemIdentityFiles company) {
        this.use = use;
        this.uri = uri;
        this.provider = provider;
        this.company = company;
    }

    /** The connections that a process encrypts. */
    public enum TlsMode {
        /** Encrypts connections to other hosts. */
        AUTO,
        /** Encrypts all connections. */
        ON,
        /** Encrypts no connection. */
        OFF,
        /** Encrypts connections to other hosts, unless the peer has the mode OFF. Used by a store without settings. */
        FOLLOW
    }

    /**
     * Creates the policy of one process.
     *
     * @param use   when to encrypt
     * @param job   id of the job, for the name in the certificate
     * @param owner name of the process in its job, such as {@code rank/3}
     */
    public static TlsPolicy of(TlsMode use, String job, String owner) {
        return of(use, job, owner, TlsProvider::fastest, null);
    }

    /**
     * Creates the policy of a process that may have PEM files.
     *
     * @param provider provider of the engines; called when the first connection needs an engine
     * @param company  files of the key and the certificates; null without such files
     */
    static TlsPolicy of(
            TlsMode use, String job, String owner, Supplier<TlsProvider> provider, PemIdentityFiles company) {
        String uri = "ferro://" + job.replaceAll("[^A-Za-z0-9._~-]", "_") + "/" + owner;
        return new TlsPolicy(use, uri, provider, company);
    }

    /**
     * Creates the policy of a rank.
     *
     * @param secret the job's secret, or none
     * @throws FerroException UNAUTHENTICATED if all connections must be encrypted without a secret, or if the given
     *     certificates cannot be used; RESOURCE if the configured provider is not available
     */
    public static TlsPolicy of(RankContext context, Secret secret, Where where) {
        return new TlsSettings(context, where).policy(secret);
    }

    /** Returns the provider of the engines. */
    public TlsProvider provider() {
        return provider.get();
    }

    /** Returns which connections this process encrypts. */
    public TlsMode use() {
        return use;
    }

    /**
     * Returns whether this side wants to encrypt a connection. {@code local} is true if this side knows that both ends
     * are on this host.
     */
    boolean wants(boolean carriesNothing, boolean local) {
        return switch (use) {
            case ON -> !carriesNothing;
            case AUTO, FOLLOW -> !carriesNothing && !local;
            case OFF -> false;
        };
    }

    /**
     * Returns whether connections between hosts are encrypted, or connections within one host if {@code between} is
     * false.
     */
    boolean encrypts(boolean between) {
        return wants(false, !between);
    }

    /**
     * Creates the key now, on the caller's thread, if connections will be encrypted. Otherwise a loop would create the
     * key, which takes time.
     *
     * @param between whether connections may go between hosts
     * @throws IllegalStateException if this Java runtime cannot create a key
     * @throws Refusal               UNAUTHENTICATED if the certificate in PEM files is not valid now
     */
    public void prepare(boolean between) throws Refusal {
        if (encrypts(between)) {
            ownIdentity();
        }
    }

    /**
     * Returns the key of this process for an outgoing connection.
     *
     * @throws Refusal UNAUTHENTICATED if the certificate in PEM files is not valid now, because the peer would refuse
     *     the certificate
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
     * Returns whether a side with PEM files checks the certificates of the peer. A connection to a store is exempt,
     * because a launcher or driver without PEM files may serve a store to any process with the job's secret.
     */
    static boolean judges(Hello.ConnectionKind kind) {
        return kind != Hello.ConnectionKind.STORE;
    }

    /** Returns what this side says about TLS in the hello of a connection that it would not encrypt. */
    Hello.TlsPreference otherwise() {
        return use == TlsMode.OFF ? Hello.TlsPreference.PLAIN : Hello.TlsPreference.EITHER;
    }

    /** Returns the key of this process. A key from PEM files may change between two calls. */
    TlsIdentity identity() {
        return company == null ? made() : company.identity();
    }

    private synchronized TlsIdentity made() {
        if (made == null) {
            made = TlsIdentity.fresh(uri, provider.get());
        }
        return made;
    }

    /** Returns whether an address belongs to this host, as far as the connecting side can determine. */
    public static boolean isOwn(InetAddress address) {
        try {
            return address != null
                    && (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null);
        } catch (SocketException unknown) {
            return false;
        }
    }

    /**
     * Returns whether an accepted connection stays on this host. A connection within a host has the same address at
     * both ends.
     */
    static boolean isWithin(InetAddress local, InetAddress remote) {
        return local != null
                && remote != null
                && (local.equals(remote) || local.isLoopbackAddress() && remote.isLoopbackAddress());
    }

    /** The TLS settings of one rank: which connections to encrypt, and the PEM files. */
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
            TlsPolicy.TlsMode use =
                    TlsPolicy.TlsMode.valueOf(Settings.TLS.of(context).toUpperCase(Locale.ROOT));
            if (use == TlsPolicy.TlsMode.ON && !secret.present()) {
                throw refused("ferro.tls=on but no secret that could authenticate its key: give all ranks the same "
                        + "FERRO_SECRET_FILE");
            }
            String job = Settings.JOB_ID.of(context);
            Supplier<TlsProvider> provider = provider();
            PemIdentityFiles company = use == TlsPolicy.TlsMode.OFF ? null : company(provider);
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
                        .filter(text -> OnceRegistry.isFirst(context, text))
                        .ifPresent(TlsSettings::warn);
                return read;
            } catch (IOException wrong) {
                throw refused("unusable certificates: " + wrong.getMessage());
            }
        }

        private static void warn(String text) {
            PlainLoggers.write("ferro.join", Level.WARNING, text);
        }

        private Path file(Setting<String> setting) {
            return Path.of(setting.of(context));
        }

        /**
         * Returns a warning if all users can read a key file. A readable key is not an error, because in a container
         * all processes can often read the certificates that an orchestrator mounts.
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
