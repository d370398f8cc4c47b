package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.epoll.Epoll;
import org.junit.jupiter.api.Test;

/** Which copies of Netty share a native part. */
class EpollChoiceTest {
    private static final ClassLoader WITH_NETTY = Epoll.class.getClassLoader();
    private static final ClassLoader WITHOUT_NETTY = ClassLoader.getPlatformClassLoader();

    @Test
    void aCopyBesideThatOfTheJvmSharesIt() {
        assertTrue(EpollChoice.sharesNativePart(WITHOUT_NETTY, WITH_NETTY));
    }

    @Test
    void theOnlyCopyDoesNot() {
        assertFalse(EpollChoice.sharesNativePart(WITH_NETTY, WITH_NETTY));
        assertFalse(EpollChoice.sharesNativePart(WITH_NETTY, WITHOUT_NETTY));
        // which delegates to the JVM's
        assertFalse(EpollChoice.sharesNativePart(WITH_NETTY, new ClassLoader(WITH_NETTY) {}));
    }
}
