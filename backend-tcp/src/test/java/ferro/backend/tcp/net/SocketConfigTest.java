package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.group.SystemContext;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings of sockets that cannot be are refused before anything moves. */
class SocketConfigTest {
    private static final ClassLoader WITH_NETTY = Epoll.class.getClassLoader();
    private static final ClassLoader WITHOUT_NETTY = ClassLoader.getPlatformClassLoader();

    private static String refused(String congestion) {
        return assertThrows(IllegalArgumentException.class, () -> io(congestion))
                .getMessage();
    }

    private static SocketConfig io(String congestion) {
        return SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.congestion", congestion)));
    }

    @Test
    void anUnknownCongestionControlIsRefusedByName() {
        assumeTrue(Epoll.isAvailable(), "without epoll nobody sets it");

        String message = refused("no-such-one");

        assertTrue(message.startsWith("ferro.tcp.congestion=no-such-one: this machine does not accept it"), message);
    }

    @Test
    void aCongestionControlOfMoreThanFifteenCharactersIsRefusedWithItsLength() {
        assertTrue(refused("sixteen-letters!").endsWith("1 to 15 printable ASCII characters, found 16"));
        assertTrue(refused("r\u00e9no").contains("printable ASCII"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "16", "1048575", "257GiB"})
    void aKeyLimitOutsideItsRangeIsRefused(String bytes) {
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> SocketConfig.of(SystemContext.of(Map.of("ferro.tls.key.bytes", bytes))))
                .getMessage();

        String start = "ferro.tls.key.bytes=" + bytes + ": need a size from 1MiB to 256GiB (found ";
        assertTrue(message.startsWith(start), message);
    }

    @Test
    void autoAndSystemNeedNoSupportOfTheMachine() {
        assertEquals(Epoll.isAvailable(), io("auto").epoll());
        assertEquals(Epoll.isAvailable(), io("system").epoll());
    }

    @Test
    void everyMachineAcceptsReno() {
        assertEquals(Epoll.isAvailable(), io("reno").epoll());
    }

    /** With a limit, the kernel ends a connection to a rank that stands at a breakpoint and reads nothing. */
    @Test
    void theKernelHasNoSendLimitInADebugger() {
        assumeTrue(Epoll.isAvailable(), "without epoll nobody sets it");

        assertEquals(0, kernelLimit("true"));
        assumeTrue(kernelLimit("false") > 0, "this kernel has no limit of the backoff");
    }

    private static int kernelLimit(String debug) {
        EpollSocketChannel channel = new EpollSocketChannel();
        try {
            SocketConfig.of(SystemContext.of(Map.of("ferro.debug", debug))).limitBackoff(channel);
            return channel.config().getTcpUserTimeout();
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void aSecondNettyBesideThatOfTheJvmSharesItsNativeLibrary() {
        assertTrue(SocketConfig.sharesNativePart(WITHOUT_NETTY, WITH_NETTY));
    }

    @Test
    void theOnlyNettyDoesNotShareItsNativeLibrary() {
        assertFalse(SocketConfig.sharesNativePart(WITH_NETTY, WITH_NETTY));
        assertFalse(SocketConfig.sharesNativePart(WITH_NETTY, WITHOUT_NETTY));
        // which delegates to the JVM's
        assertFalse(SocketConfig.sharesNativePart(WITH_NETTY, new ClassLoader(WITH_NETTY) {}));
    }
}
