package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Where;
import ferro.group.SystemContext;
import ferro.spi.InterfaceFilter;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which address is listened on and published, on a machine with several interfaces. */
class AddressChoiceTest {
    private static final List<LocalInterface> MACHINE = List.of(
            up("lo", "127.0.0.1", "::1"),
            up("docker0", "172.17.0.1"),
            up("eth0", "127.0.0.9", "fd00::2"),
            up("cable9", "fe80::2"),
            up("ib0", "10.1.0.2", "fd01::2"),
            new LocalInterface("eth1", false, List.of(AddressLookup.literal("10.2.0.2"))));

    private static LocalInterface up(String name, String... addresses) {
        List<InetAddress> all = Stream.of(addresses).map(AddressLookup::literal).toList();
        return new LocalInterface(name, true, all);
    }

    /** The address that routes to the store is eth0's, 127.0.0.9: what lies in loopback's network routes to itself. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "eth0 | 127.0.0.9",
                "ib0 | 10.1.0.2",
                "ib0,eth0 | 127.0.0.9",
                "ib0,docker0 | 10.1.0.2",
                "docker0,ib0 | 172.17.0.1",
                "10.0.0.0/8 | 10.1.0.2",
                "fd01::/16 | fd01:0:0:0:0:0:0:2",
                "fe80::/10 | fe80:0:0:0:0:0:0:2",
                "172.17.0.1 | 172.17.0.1",
                "^eth0,docker0,lo | 10.1.0.2",
                "^eth0,docker0 | 10.1.0.2",
                "^127.0.0.0/8,172.16.0.0/12,10.0.0.0/8 | fd00:0:0:0:0:0:0:2",
                "^docker0 | 127.0.0.9",
            })
    void theAddressThatRoutesToTheStoreIsChosenElseTheFirstOfTheList(String filter, String expected) {
        AddressChoice choice = choose(Map.of("ferro.tcp.interface", filter), "127.0.0.9", false);

        assertEquals(expected, choice.advertise());
        assertEquals(expected, choice.bind().getHostAddress());
        assertEquals("set by ferro.tcp.interface=" + filter, choice.reason());
    }

    @Test
    void anAddressSettingTakesPrecedenceOverTheInterface() {
        Map<String, String> settings = new HashMap<>(Map.of("ferro.tcp.interface", "ib0"));
        settings.put("ferro.tcp.advertise", "gate.example");
        AddressChoice chosen = choose(settings, "127.0.0.9", false);
        assertEquals("10.1.0.2 gate.example", chosen.bind().getHostAddress() + " " + chosen.advertise());

        settings.put("ferro.tcp.bind", "127.0.0.5");
        AddressChoice both = choose(settings, "127.0.0.9", false);
        assertEquals("127.0.0.5 gate.example", both.bind().getHostAddress() + " " + both.advertise());

        settings.remove("ferro.tcp.advertise");
        AddressChoice bound = choose(settings, "127.0.0.9", false);
        assertEquals("127.0.0.5", bound.advertise());
        assertEquals("set by ferro.tcp.bind=127.0.0.5", bound.reason());

        settings.put("ferro.tcp.bind", "0.0.0.0");
        assertEquals("10.1.0.2", choose(settings, "127.0.0.9", false).advertise());
    }

    @Test
    void theAddressThatRoutesToTheStoreIsTheDefault() {
        AddressChoice choice = choose(Map.of(), "127.0.0.9", false);

        assertEquals("127.0.0.9 127.0.0.9", choice.bind().getHostAddress() + " " + choice.advertise());
        assertEquals("it routes there", choice.reason());
    }

    @Test
    void aRankThatServesTheStoreAtAnotherAddressListensOnAllAddresses() {
        AddressChoice other = choose(Map.of("ferro.tcp.interface", "ib0"), "127.0.0.9", true);
        assertEquals("0.0.0.0 10.1.0.2", other.bind().getHostAddress() + " " + other.advertise());

        AddressChoice same = choose(Map.of("ferro.tcp.interface", "eth0"), "127.0.0.9", true);
        assertEquals("127.0.0.9 127.0.0.9", same.bind().getHostAddress() + " " + same.advertise());
    }

    @Test
    void aFilterThatMatchesNoInterfaceFailsWithTheListOfInterfaces() {
        for (String filter : List.of("eth1", "eth7", "^lo,docker0,eth0,ib0", "192.168.0.0/16", "169.254.0.0/16")) {
            String message = assertThrows(
                            IllegalArgumentException.class,
                            () -> choose(Map.of("ferro.tcp.interface", filter), "127.0.0.9", false))
                    .getMessage();

            assertTrue(message.startsWith("ferro.tcp.interface=" + filter + ": no interface that is up"), message);
            assertTrue(message.contains("ib0 (10.1.0.2, fd01:0:0:0:0:0:0:2), eth1 (down, 10.2.0.2)"), message);
        }
    }

    @Test
    void interfacesForNcclAreThoseThatMatchTheFilter() {
        assertEquals(List.of("ib0"), AddressChoice.names(InterfaceFilter.of("10.0.0.0/8"), MACHINE));
        assertEquals(List.of("ib0", "docker0"), AddressChoice.names(InterfaceFilter.of("ib0,docker0"), MACHINE));
    }

    private static AddressChoice choose(Map<String, String> settings, String store, boolean served) {
        AddressChoice.StoreLocation meeting =
                new AddressChoice.StoreLocation(AddressLookup.literal(store), served, "it routes there");
        return AddressChoice.of(SystemContext.of(settings), Where.of("g", 1), meeting, () -> MACHINE);
    }
}
