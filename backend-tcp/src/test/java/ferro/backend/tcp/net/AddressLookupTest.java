package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.group.SystemContext;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Names that have no address yet, one, or several. */
class AddressLookupTest {
    private static final String NAME = "pod-0.service";

    @Test
    void everySecondAttemptChangesTheCaseOfANameToAvoidTheCache() {
        Set<String> asked = new HashSet<>();
        for (int attempt = 0; attempt < 40; attempt++) {
            String name = AddressLookup.spelling(NAME, attempt);
            assertTrue(name.equalsIgnoreCase(NAME), name);
            assertEquals(attempt % 2 == 0, name.equals(NAME), name);
            asked.add(name);
        }
        assertEquals(21, asked.size(), asked.toString());
        assertEquals("Pod-0.service", AddressLookup.spelling("pod-0.service", 1));
    }

    @Test
    void anInterruptedResolutionNamesTheHostTheGroupAndTheRank() {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        Thread.currentThread().interrupt();

        FerroException failure = assertThrows(
                FerroException.class,
                () -> AddressLookup.allResolved(
                        "no-such-name.invalid", deadline, SystemContext.of(Map.of()), Where.of("g", 3)));

        assertTrue(Thread.interrupted(), "the interrupt flag was not set again");
        assertEquals(Code.INTERRUPTED, failure.code());
        assertEquals(
                "interrupted while resolving host \"no-such-name.invalid\" for \"g\" rank 3", failure.getMessage());
    }

    @Test
    void aLiteralAddressIsNotResolved() throws UnknownHostException {
        assertEquals(List.of(AddressLookup.literal("127.0.0.7")), AddressLookup.attempt("127.0.0.7", 3));
        assertEquals(List.of(AddressLookup.literal("fd00::a")), AddressLookup.attempt("fd00::a", 5));
        assertTrue(AddressLookup.leadsToLoopback("127.0.1.1"));
        assertFalse(AddressLookup.leadsToLoopback("192.0.2.7"));
    }

    @Test
    void anIpv6AddressIsPrintedInShortFormWithItsScope() throws UnknownHostException {
        byte[] bytes = AddressLookup.literal("fe80:0:0:0:1:0:0:9").getAddress();

        assertEquals("fe80::1:0:0:9", AddressLookup.text(AddressLookup.literal("fe80:0:0:0:1:0:0:9")));
        assertEquals("fe80::1:0:0:9%7", AddressLookup.text(Inet6Address.getByAddress(null, bytes, 7)));
        assertEquals("10.0.0.9", AddressLookup.text(AddressLookup.literal("::ffff:10.0.0.9")));
    }

    @Test
    void aTextThatIsNotAnAddressIsRefusedWithoutResolving() {
        for (String text : List.of("localhost", "10.0.0", "10.0.0.256", "fd00::1::2", "1234", "")) {
            assertThrows(IllegalArgumentException.class, () -> AddressLookup.literal(text), text);
        }
    }

    @Test
    void onlyLiteralsAndStandardNamesOfLoopbackAreLoopback() {
        for (String loopback : List.of("127.0.1.1", "127.1", "::1%lo", "LocalHost", "a.localhost.", "localhost6")) {
            assertTrue(AddressLookup.isLoopback(loopback), loopback);
        }
        for (String other : List.of("127.example", "mylocalhost", "localhost.example", "node0", "192.0.2.7")) {
            assertFalse(AddressLookup.isLoopback(other), other);
        }
        assertTrue(AddressLookup.isLoopback("0:0:0:0:0:0:0:1%lo"));
        assertTrue(AddressLookup.isLoopback("::1%no-such-interface-here"));
        assertFalse(AddressLookup.isLoopback("127.example.org"));
        assertFalse(AddressLookup.isLoopback("127.0.0.256"));
    }

    @Test
    void loopbackAndUnknownNamesGiveNoAddressOfThisMachine() {
        for (String name : List.of("127.0.1.1", "localhost", "192.0.2.7", "no-such-name.invalid")) {
            assertEquals(Optional.empty(), LoopbackHostName.find(name));
        }
    }

    @Test
    void addressesOfBothFamiliesAreTriedInTurnAndIpv6First() {
        List<InetAddress> named = literals("10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3", "fd00::1", "fd00::2");

        assertEquals(
                "[fd00::1]:7, 10.0.0.1:7, [fd00::2]:7, 10.0.0.2:7, 10.0.0.3:7",
                AddressLookup.text(AddressLookup.toDial(named, 7)));
    }

    @Test
    void anAddressOfThisMachineIsPreferred() {
        Where where = Where.of("g", 0);

        assertEquals(
                AddressLookup.literal("127.0.0.1"), AddressLookup.nearest(literals("203.0.113.9", "127.0.0.1"), where));
        assertEquals(AddressLookup.literal("127.0.0.5"), AddressLookup.nearest(literals("127.0.0.5", "::1"), where));
    }

    private static List<InetAddress> literals(String... texts) {
        return Stream.of(texts).map(AddressLookup::literal).toList();
    }

    @Test
    void theAddressOfTheDefaultRouteIsNeverLoopback() {
        try {
            assertFalse(AddressLookup.ofDefaultRoute(Where.of("g", 0)).isLoopbackAddress());
        } catch (ferro.FerroException none) {
            assertTrue(none.getMessage().contains("(ferro.tcp.interface, ferro.tcp.bind)"), none.getMessage());
        }
    }

    @Test
    void theScopeOfALinkLocalAddressIsDropped() {
        assertEquals(
                "fe80::9",
                AddressLookup.text(AddressLookup.linkLocal("fe80::9%cable9").orElseThrow()));
        assertEquals(
                "fe80::9", AddressLookup.text(AddressLookup.linkLocal("fe80::9").orElseThrow()));
        for (String other : List.of("fd00::9", "::1", "169.254.0.9", "node0")) {
            assertEquals(Optional.empty(), AddressLookup.linkLocal(other));
        }
    }

    @Test
    void aLinkLocalAddressGetsItsInterfaceOfThisMachine() throws Exception {
        LocalInterface eth = new LocalInterface("eth0", true, literals("10.0.0.1", "fe80::1"));
        LocalInterface cable = new LocalInterface("cable9", true, literals("fe80::2"));
        LocalInterface down = new LocalInterface("eth1", false, literals("fe80::3"));
        InetAddress peer = AddressLookup.literal("fe80::9");

        assertEquals("cable9", AddressLookup.nameOfLink(AddressLookup.literal("fe80::2"), List.of(eth, cable)));
        assertEquals("eth0", AddressLookup.nameOfLink(peer, List.of(down, eth)));
        for (List<LocalInterface> all : List.of(List.of(eth, cable), List.of(down))) {
            String text = assertThrows(UnknownHostException.class, () -> AddressLookup.nameOfLink(peer, all))
                    .getMessage();
            assertTrue(text.contains(all.size() == 2 ? "the interfaces eth0, cable9: " : "no interface: "), text);
        }
    }
}
