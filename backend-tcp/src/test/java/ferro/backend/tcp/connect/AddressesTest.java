package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Where;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Names that have no address yet. */
class AddressesTest {
    private static final String NAME = "pod-0.service";

    @Test
    void everySecondAttemptSpellsANameAnewSoThatJavaDoesNotAnswerFromMemory() {
        Set<String> asked = new HashSet<>();
        for (int attempt = 0; attempt < 40; attempt++) {
            String name = Addresses.spelling(NAME, attempt);
            assertTrue(name.equalsIgnoreCase(NAME), name);
            assertEquals(attempt % 2 == 0, name.equals(NAME), name);
            asked.add(name);
        }
        assertEquals(21, asked.size(), asked.toString());
        assertEquals("Pod-0.service", Addresses.spelling("pod-0.service", 1));
    }

    @Test
    void anAddressStaysItself() throws UnknownHostException {
        assertEquals("127.0.0.7", Addresses.attempt("127.0.0.7", 3).getHostAddress());
        assertEquals("fd00:0:0:0:0:0:0:a", Addresses.attempt("fd00::a", 5).getHostAddress());
        assertTrue(Addresses.leadsToLoopback("127.0.1.1"));
        assertFalse(Addresses.leadsToLoopback("192.0.2.7"));
    }

    @Test
    void theAddressOfTheDefaultRouteIsNeverLoopback() {
        try {
            assertFalse(Addresses.ofDefaultRoute(Where.outside("g", 0)).isLoopbackAddress());
        } catch (ferro.FerroException none) {
            assertTrue(none.getMessage().contains("(ferro.tcp.interface, ferro.tcp.bind)"), none.getMessage());
        }
    }
}
