package ferro.backend.tcp;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.backend.tcp.net.TlsProvider;
import ferro.group.SystemContext;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TcpOutlookTest {

    @Test
    void withoutARendezvousAddressRanksUseLoopback() {
        TcpOutlook outlook = look(Map.of());

        assertEquals("127.0.0.1", outlook.address());
        assertTrue(outlook.addressReason().startsWith("loopback"), outlook.addressReason());
    }

    @Test
    void theAddressIsTheOneThatRoutesToTheRendezvous() {
        TcpOutlook outlook = look(Map.of("MASTER_ADDR", "127.0.0.7", "MASTER_PORT", "29500"));

        assertEquals("127.0.0.7", outlook.address());
        assertEquals("it routes to the rendezvous at 127.0.0.7", outlook.addressReason());
    }

    @Test
    void theSettingsThatDecideAreNamed() {
        TcpOutlook outlook = look(
                Map.of("ferro.tcp.advertise", "gate.example", "ferro.tcp.io", "nio", "ferro.tcp.congestion", "cubic"));

        assertEquals("gate.example", outlook.address());
        assertEquals("set by ferro.tcp.advertise=gate.example", outlook.addressReason());
        assertEquals("nio, set by ferro.tcp.io", outlook.sockets());
        assertTrue(outlook.congestion().endsWith("which nio cannot change"), outlook.congestion());
    }

    @Test
    void theReportNamesTheTlsEnginesThatRanksChoose() {
        String fastest = TlsProvider.missingOpenSsl() == null ? "OpenSSL" : "the JDK";

        assertEquals(
                "connections between hosts, by TLS 1.3 of " + fastest,
                look(Map.of()).encryption());
        assertEquals(
                "all connections, by TLS 1.3 of the JDK",
                look(Map.of("ferro.tls", "on", "ferro.tls.provider", "jdk")).encryption());
        String forced = look(Map.of("ferro.tls.provider", "openssl")).encryption();
        assertTrue(forced.startsWith("connections between hosts, by TLS 1.3 of OpenSSL"), forced);
        assertEquals(
                !fastest.equals("OpenSSL"),
                forced.contains("which cannot be used: Netty's OpenSSL engine is not available"));
    }

    @Test
    void anUnknownHostIsNamed() {
        assertRefused(
                FerroException.class,
                () -> look(Map.of("MASTER_ADDR", "no-such-host.invalid", "MASTER_PORT", "29500")),
                "no-such-host.invalid");
    }

    /** Variables go by their capitals, properties by their dots, as {@link SystemContext#of} takes both. */
    private static TcpOutlook look(Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            return TcpOutlook.of(context);
        }
    }
}
