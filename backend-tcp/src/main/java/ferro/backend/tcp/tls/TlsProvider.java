package ferro.backend.tcp.tls;

import ferro.backend.tcp.netty.NettyNames;

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

    /** Returns the fastest one that is there. */
    public static TlsProvider fastest() {
        return missingOpenSsl() == null ? OPENSSL : JDK;
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
