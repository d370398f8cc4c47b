package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Version;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The versions and jars of the modules of Netty that this process loads. In this class, a part is a module of Netty.
 *
 * <p>A class path often has two copies of Netty, or modules of different versions, because a build declares one module
 * for another library. The JVM loads each class from the first jar that contains the class. Therefore the version of a
 * module is read from the jar from which the JVM loads one of the module's classes.
 */
public final class NettyModules {
    /** Prefix of Netty's packages. In the jar with renamed packages, the prefix is {@code ferro.shaded.io.netty.}. */
    private static final String PACKAGES = "io.netty.";

    /** The oldest version of Netty with which ferro runs. A test of ferro runs with this version. */
    static final String OLDEST = "4.2.1.Final";

    private static final String VERSIONS = "META-INF/io.netty.versions.properties";
    private static final String NATIVE_PART = "netty-transport-native-epoll";
    private static final String NATIVE_FILE = "META-INF/native/libnetty_transport_native_epoll_";

    /** For each module that every rank needs to join, the name of one of its classes. */
    private static final Map<String, String> NEEDED = Map.of(
            "netty-buffer", "io.netty.buffer.ByteBuf",
            "netty-common", "io.netty.util.Version",
            "netty-resolver", "io.netty.resolver.AddressResolverGroup",
            "netty-transport", "io.netty.channel.Channel",
            "netty-transport-classes-epoll", "io.netty.channel.epoll.Epoll",
            "netty-transport-native-unix-common", "io.netty.channel.unix.Unix");

    /**
     * For each optional module, the name of one of its classes. The native libraries for TLS are missing here, because
     * they have other version numbers.
     */
    private static final Map<String, String> USED = Map.of(
            "netty-codec-base", "io.netty.handler.codec.ByteToMessageDecoder",
            "netty-handler", "io.netty.handler.ssl.SslContext");

    private static final String WAY_OUT = ": depend on ferro or ferro-backend-tcp-shaded in place of ferro-backend-tcp,"
            + " because their Netty has names of its own; or give all parts of Netty one version from " + OLDEST
            + " on, in Maven by importing io.netty:netty-bom";

    static {
        // Netty's JFR events would take a fifth of the CPU time of a start, and ferro does not read them
        if (areOwn()) {
            System.getProperties().putIfAbsent(PACKAGES + "jfr.enabled", "false");
        }
    }

    private NettyModules() {}

    /** Returns whether ferro's jar contains a copy of Netty in renamed packages, which no other jar has. */
    static boolean areOwn() {
        return PACKAGES.startsWith("ferro.");
    }

    /**
     * A module of Netty that was found on the class path.
     *
     * @param version version, such as 4.2.18.Final
     * @param jar     location of the jar
     */
    record FoundModule(String version, String jar) {}

    /** The modules of Netty on the class path of this class. They are searched once. */
    private static final class LoadedModules {
        static final Map<String, FoundModule> FOUND = found(NettyModules.class.getClassLoader());
    }

    /**
     * Returns why ferro cannot run with the Netty of this process, and what the user can do; empty if ferro can run.
     */
    public static Optional<String> unusable() {
        return areOwn() ? Optional.empty() : unusable(LoadedModules.FOUND);
    }

    /**
     * Returns a text about the different versions of Netty's modules in this process; empty if all have the same
     * version.
     */
    public static Optional<String> mixed() {
        return areOwn() ? Optional.empty() : mixed(LoadedModules.FOUND);
    }

    /**
     * Runs code that uses Netty.
     *
     * @throws FerroException RENDEZVOUS if ferro cannot run with the Netty of this process. The message has the
     *     versions that were found, their jars, the required version, and what the user can do. The cause is the error
     *     of the JVM
     */
    public static <T> T with(Where where, Supplier<T> code) {
        Optional<String> why = unusable();
        if (why.isPresent()) {
            throw new FerroException(Code.RENDEZVOUS, where, why.get());
        }
        try {
            return code.get();
        } catch (LinkageError broken) {
            throw ofNetty(broken).map(error -> failure(where, error, broken)).orElseThrow(() -> broken);
        } catch (FerroException failed) {
            // if the error was thrown on a thread of Netty, it is a cause of this failure
            throw ofNetty(failed).map(error -> failure(where, error, failed)).orElse(failed);
        }
    }

    private static FerroException failure(Where where, LinkageError error, Throwable cause) {
        String text = "back end tcp cannot run with the Netty of the class path (" + error + "), found "
                + listed(LoadedModules.FOUND) + WAY_OUT;
        return new FerroException(Code.RENDEZVOUS, where, text, cause);
    }

    /**
     * Returns the linkage error among the causes that concerns a class of Netty. Empty if ferro's jar contains a copy
     * of Netty.
     */
    private static Optional<LinkageError> ofNetty(Throwable thrown) {
        LinkageError last = null;
        for (Throwable one = areOwn() ? null : thrown; one != null; one = one.getCause()) {
            last = one instanceof LinkageError error ? error : last;
            if (last != null
                    && String.valueOf(one.getMessage()).replace('/', '.').contains(PACKAGES)) {
                return Optional.of(last);
            }
        }
        return Optional.empty();
    }

    /** Returns why ferro cannot run with the given modules of Netty; empty if ferro can run. */
    static Optional<String> unusable(Map<String, FoundModule> found) {
        Set<String> missing = new TreeSet<>(NEEDED.keySet());
        missing.removeAll(found.keySet());
        Map<String, FoundModule> old = new TreeMap<>();
        found.forEach((part, one) -> {
            if (isOlder(one.version)) {
                old.put(part, one);
            }
        });
        if (!old.isEmpty()) {
            return Optional.of("back end tcp needs Netty " + OLDEST + " or newer, found " + listed(old) + WAY_OUT);
        }
        return missing.isEmpty()
                ? Optional.empty()
                : Optional.of("back end tcp needs Netty " + OLDEST + " or newer, found no " + String.join(", ", missing)
                        + " on the class path" + WAY_OUT);
    }

    /** Returns a text about the different versions of the given modules; empty if all have the same version. */
    static Optional<String> mixed(Map<String, FoundModule> found) {
        Map<String, Set<String>> parts = new TreeMap<>();
        found.forEach((part, one) -> {
            if (!one.version.isEmpty()) {
                parts.computeIfAbsent(one.version, none -> new TreeSet<>()).add(part + " (" + one.jar + ")");
            }
        });
        if (parts.size() < 2) {
            return Optional.empty();
        }
        return Optional.of("the parts of Netty on the class path are of different versions: "
                + parts.entrySet().stream()
                        .map(one -> one.getKey() + " of " + String.join(", ", one.getValue()))
                        .collect(Collectors.joining("; "))
                + ": give all of them one version, in Maven by importing io.netty:netty-bom");
    }

    private static String listed(Map<String, FoundModule> parts) {
        return parts.isEmpty()
                ? "none"
                : new TreeMap<>(parts)
                        .entrySet().stream()
                                .map(each ->
                                        each.getKey() + " " + each.getValue().version + " in " + each.getValue().jar)
                                .collect(Collectors.joining(", "));
    }

    /** Returns whether a version is known and older than {@link #OLDEST}. */
    private static boolean isOlder(String version) {
        try {
            return Version.parse(version).compareTo(Version.parse(OLDEST)) < 0;
        } catch (IllegalArgumentException unordered) {
            // a version such as "unspecified", or an empty one
            return false;
        }
    }

    /** Returns the modules of Netty that a class loader finds, by module name. An unknown version is an empty text. */
    static Map<String, FoundModule> found(ClassLoader loader) {
        Map<String, FoundModule> found = new HashMap<>();
        Map<String, Properties> versionsByJar = new HashMap<>();
        Function<String, Properties> versions = jar -> versionsByJar.computeIfAbsent(jar, NettyModules::versions);
        NEEDED.forEach((part, type) -> find(part, type, loader, versions).ifPresent(one -> found.put(part, one)));
        USED.forEach((part, type) -> find(part, type, loader, versions).ifPresent(one -> found.put(part, one)));
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
        URL file = loader.getResource(NATIVE_FILE + machine + ".so");
        if (file != null) {
            String jar = file.toString().replaceFirst("META-INF/.*", "");
            found.put(NATIVE_PART, new FoundModule(version(NATIVE_PART, versions.apply(jar)), readable(jar)));
        }
        return found;
    }

    private static Optional<FoundModule> find(
            String part, String type, ClassLoader loader, Function<String, Properties> versions) {
        try {
            Class<?> loaded = Class.forName(type, false, loader);
            Optional<String> ofModule =
                    Optional.ofNullable(loaded.getModule().getDescriptor()).flatMap(ModuleDescriptor::rawVersion);
            CodeSource source = loaded.getProtectionDomain().getCodeSource();
            if (source == null || source.getLocation() == null) {
                return Optional.of(new FoundModule(ofModule.orElse(""), "an unknown jar"));
            }
            String jar = source.getLocation().toString();
            return Optional.of(new FoundModule(
                    ofModule.orElseGet(() -> version(part, versions.apply(base(jar)))), readable(jar)));
        } catch (ClassNotFoundException | LinkageError absent) {
            return Optional.empty();
        }
    }

    /** Returns the URL to which the name of a file in the jar can be appended. */
    private static String base(String jar) {
        return jar.endsWith("/") ? jar : "jar:" + jar + "!/";
    }

    /** Returns the path of a jar in the file system. */
    private static String readable(String jar) {
        String path = jar.replaceFirst("^jar:", "")
                .replaceFirst("^(nested|file):", "")
                .replaceFirst("!?/$", "");
        try {
            return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException notEncoded) {
            return path;
        }
    }

    /** Returns the URI of a location. Some class loaders do not encode special characters of locations. */
    private static URI uri(String location) throws IOException {
        try {
            return new URI(location);
        } catch (URISyntaxException notEncoded) {
            return encoded(location);
        }
    }

    private static URI encoded(String location) throws IOException {
        int scheme = location.indexOf(':');
        try {
            return new URI(location.substring(0, scheme), location.substring(scheme + 1), null);
        } catch (URISyntaxException unreadable) {
            throw new IOException("no location of a jar: " + location, unreadable);
        }
    }

    private static Properties versions(String base) {
        Properties read = new Properties();
        try {
            URLConnection file = uri(base + VERSIONS).toURL().openConnection();
            // without this call, the JVM would cache the open jar
            file.setUseCaches(false);
            try (InputStream text = file.getInputStream()) {
                read.load(text);
            }
        } catch (IOException | IllegalArgumentException none) {
            // another tool has made this jar, so its version is unknown
        }
        return read;
    }

    /**
     * Returns the version of a module, which is read from a file in the module's jar. The files of old versions name
     * some modules differently.
     */
    private static String version(String part, Properties ofJar) {
        String exact = ofJar.getProperty(part + ".version");
        if (exact != null) {
            return exact;
        }
        Set<String> all = new HashSet<>();
        for (String key : ofJar.stringPropertyNames()) {
            if (key.endsWith(".version")) {
                all.add(ofJar.getProperty(key));
            }
        }
        return all.size() == 1 ? all.iterator().next() : "";
    }
}
