package ferro.backend.tcp.connect;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.tls.PemIdentityFiles;
import ferro.backend.tcp.tls.TlsProvider;
import ferro.spi.LogLines;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
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

/** Reads the settings of TLS of one rank: when to encrypt, and where a company's certificates are. */
public final class TlsSettings {
    private static final List<Setting<String>> FILES =
            List.of(Settings.TLS_CERTIFICATE, Settings.TLS_KEY, Settings.TLS_TRUST);

    private final RankContext context;
    private final Where where;

    private TlsSettings(RankContext context, Where where) {
        this.context = context;
        this.where = where;
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

    private TlsPolicy policy(Secret secret) {
        TlsPolicy.TlsUse use = TlsPolicy.TlsUse.valueOf(Settings.TLS.of(context).toUpperCase(Locale.ROOT));
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
            openToAll(key).filter(text -> OncePerContext.isFirst(context, text)).ifPresent(TlsSettings::warn);
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
