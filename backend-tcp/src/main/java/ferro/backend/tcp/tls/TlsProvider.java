package ferro.backend.tcp.tls;

import ferro.backend.tcp.netty.NettyNames;
import java.util.List;

/** Whose engines encrypt. */
public enum TlsProvider {
    /** Those of the Java runtime. */
    JDK("the JDK"),
    /** Those of Netty over BoringSSL, where its library is there. */
    OPENSSL("OpenSSL");

    private final String label;

    TlsProvider(String label) {
        this.label = label;
    }

    /** Returns the maker of engines; its class is looked for only now, because its library may be absent. */
    TlsEngines engines() {
        return this == JDK ? new JdkEngines() : new OpenSslEngines();
    }

    /** Loaders of programs that stay loaded until the JVM ends, by the beginnings of their class names. */
    private static final List<String> LASTING = List.of("org.springframework.boot.loader.", "org.apache.spark.util.");

    /**
     * Returns the fastest one that is there and does no harm.
     *
     * <p>BoringSSL keeps data of each thread that has used it, and frees the data by its own code when the thread ends. If its
     * library has been unloaded before, together with the program that contains it, the process ends by SIGSEGV.
     */
    public static TlsProvider fastest() {
        ClassLoader program = TlsProvider.class.getClassLoader();
        return stays(program, ClassLoader.getSystemClassLoader()) && missingOpenSsl() == null ? OPENSSL : JDK;
    }

    /** Returns whether the classes of a loader stay loaded until the JVM ends. */
    static boolean stays(ClassLoader loader, ClassLoader system) {
        for (ClassLoader own = system; own != null; own = own.getParent()) {
            if (own == loader) {
                return true;
            }
        }
        return LASTING.stream().anyMatch(loader.getClass().getName()::startsWith);
    }

    /** Returns why {@link #OPENSSL} cannot be used, and what would change that; null if it can. */
    public static String missingOpenSsl() {
        Throwable missing;
        try {
            missing = OpenSslEngines.missing();
        } catch (LinkageError absent) {
            missing = absent;
        }
        if (missing == null) {
            return null;
        }
        return "Netty's OpenSSL engine is not available (" + missing + "): "
                + (NettyNames.areOwn()
                        ? "ferro-backend-tcp-shaded has it for Linux with glibc on x86_64 and aarch64; set"
                        : "add io.netty:netty-handler and io.netty:netty-tcnative-boringssl-static to the class path, or"
                                + " set")
                + " ferro.tls.provider=jdk";
    }

    @Override
    public String toString() {
        return label;
    }
}
