package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class UnauthenticatedPeerLogTest {
    private static final SocketAddress FROM = new InetSocketAddress("127.0.0.1", 4711);

    private final AtomicLong now = new AtomicLong(-3);
    private final KeptLog lines = new KeptLog();
    private final UnauthenticatedPeerLog log = new UnauthenticatedPeerLog(lines, now::get);

    @Test
    @DisplayName("row 27: strangers cost one line per minute, which says how many they were")
    void unauthenticatedPeersAreLoggedOnceAMinuteWithTheirNumber() {
        for (int i = 0; i < 59; i++) {
            log.seen(FROM, new byte[] {'G', 'E', 'T'}, 3);
            now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        }
        assertEquals(1, lines.said.size(), lines.said.toString());
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        log.seen(FROM, new byte[] {'G', 'E', 'T'}, 3);

        assertEquals(2, lines.said.size(), lines.said.toString());
        assertTrue(lines.said.get(0).contains("first bytes 47 45 54"), lines.said.get(0));
        assertTrue(lines.said.get(1).contains("59 such connections since the last line"), lines.said.get(1));
    }

    @Test
    @DisplayName("row 27: refusals cost one line per minute, with the reason")
    void refusalsAreLoggedOnceAMinuteWithTheReason() {
        log.refused(FROM, new Refusal(Code.PROTOCOL, "version 7"));
        log.refused(FROM, new Refusal(Code.PROTOCOL, "version 8"));

        assertEquals(1, lines.said.size(), lines.said.toString());
        assertTrue(lines.said.get(0).contains("PROTOCOL: version 7"), lines.said.get(0));
    }
}
