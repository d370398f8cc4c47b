package ferro.backend.tcp.connect;

import ferro.backend.tcp.netty.NettyNames;
import io.netty.channel.epoll.Epoll;
import java.util.Optional;

/** Says whether epoll is used where nobody asks for it or against it. */
public final class EpollChoice {
    private static final String NATIVE = "io.netty.channel.epoll.Native";

    private EpollChoice() {}

    /** Returns whether Netty's native part has loaded. */
    static boolean works() {
        return OwnThread.call(Epoll::isAvailable);
    }

    /**
     * Returns why {@code ferro.tcp.io=auto} does not choose epoll, with the way out; empty if it does. Loads Netty's native part
     * only where that does no harm.
     */
    public static Optional<String> avoidedBecause() {
        if (sharesNativePart(Epoll.class.getClassLoader(), ClassLoader.getSystemClassLoader())) {
            return Optional.of("this program contains a second Netty, and the Netty of the JVM would lose its "
                    + "native methods when this program is unloaded: remove one of the two, or set "
                    + "ferro.tcp.io=epoll if the program is never unloaded");
        }
        return works()
                ? Optional.empty()
                : Optional.of(Epoll.unavailabilityCause()
                        + (NettyNames.areOwn()
                                ? ": ferro-backend-tcp-shaded has it for Linux on x86_64 and aarch64"
                                : ": add netty-transport-native-epoll for this machine"));
    }

    /**
     * Returns whether the JVM's class path has another copy of Netty's native methods. When the class loader that loaded the
     * native part is collected, its JNI_OnUnload looks the class up by the system class loader, and so unregisters the methods of
     * that copy.
     */
    static boolean sharesNativePart(ClassLoader own, ClassLoader system) {
        if (own == system) {
            return false;
        }
        try {
            return Class.forName(NATIVE, false, system).getClassLoader() != own;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }
}
