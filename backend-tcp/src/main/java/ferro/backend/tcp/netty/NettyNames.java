package ferro.backend.tcp.netty;

/** The names of Netty's packages in this jar. */
public final class NettyNames {
    /** This constant is {@code ferro.shaded.io.netty.} in the jar that has its own Netty in renamed packages. */
    static final String PACKAGES = "io.netty.";

    static {
        // Netty's events for JFR, which nobody of ferro reads, take a fifth of the CPU time of a start
        if (areOwn()) {
            System.getProperties().putIfAbsent(PACKAGES + "jfr.enabled", "false");
        }
    }

    private NettyNames() {}

    /** Returns whether this jar has its own Netty, in packages that no other jar has. */
    public static boolean areOwn() {
        return PACKAGES.startsWith("ferro.");
    }
}
