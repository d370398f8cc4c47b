package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.net.AddressLookup;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interfaces with their speeds, and whether data goes over the fastest. */
class InterfaceSpeedTest {
    private static final InterfaceSpeed SLOW = new InterfaceSpeed("eth0", 1_000);
    private static final InterfaceSpeed FAST = new InterfaceSpeed("ib0", 100_000);

    @TempDir
    private Path system;

    @Test
    void onlyFasterInterfacesThatAreUpAndNotBridgesAreListed() throws IOException {
        make("eth0", "1000", "up", "device");
        make("eth1", "2500", "up", "device");
        make("ib0", "100000", "up", "device");
        make("bond0", "50000", "up", "bonding");
        make("eth3", "400000", "down", "device");
        make("docker0", "10000", "up", "bridge");
        make("wlan0", "-1", "up", "device");

        assertEquals("[ib0 (100 Gbit/s), bond0 (50 Gbit/s), eth1 (2.5 Gbit/s)]", texts(SLOW.faster(system)));
        assertEquals("[]", texts(FAST.faster(system)));
        assertEquals("[]", texts(new InterfaceSpeed("veth0", 0).faster(system)));
        assertEquals("[]", texts(SLOW.faster(system.resolve("nothing"))));
    }

    private static String texts(List<InterfaceSpeed> links) {
        return links.stream().map(InterfaceSpeed::text).toList().toString();
    }

    private void make(String name, String speed, String state, String kind) throws IOException {
        Path folder =
                Files.createDirectories(system.resolve(name).resolve(kind)).getParent();
        Files.writeString(folder.resolve("speed"), speed + "\n");
        Files.writeString(folder.resolve("operstate"), state + "\n");
    }

    @Test
    void aFasterInterfaceIsReportedOnlyIfAllHostsHaveOne() {
        PeerHost both = new PeerHost(0, "a", SLOW, List.of(FAST, new InterfaceSpeed("eth9", 25_000)));
        PeerHost second = new PeerHost(1, "b", SLOW, List.of(new InterfaceSpeed("eth9", 25_000)));
        PeerHost third = new PeerHost(2, "c", SLOW, List.of(new InterfaceSpeed("eth8", 40_000)));

        assertEquals("", InterfaceSpeed.fasterEverywhere(List.of(both, new PeerHost(1, "b", SLOW, List.of()))));
        assertEquals(
                "data goes over eth0 (1 Gbit/s), but a faster interface is up on all hosts: eth9 (25 Gbit/s):"
                        + " ferro.tcp.interface=eth9 uses it",
                InterfaceSpeed.fasterEverywhere(List.of(both, second)));
        assertEquals(
                "data goes over eth0 (1 Gbit/s), but a faster interface is up on all hosts: ib0 (100 Gbit/s), eth8 (40"
                        + " Gbit/s): ferro.tcp.interface=ib0,eth8 uses it",
                InterfaceSpeed.fasterEverywhere(List.of(both, third)));
    }

    @Test
    void aMachineIsReadBackFromItsText() {
        PeerHost home = new PeerHost(1, "b", SLOW, List.of(FAST, new InterfaceSpeed("eth9", 25_000)));
        assertEquals(home, PeerHost.parsed(home.text()));
        assertEquals(PeerHost.UNKNOWN, PeerHost.parsed(PeerHost.UNKNOWN.text()));
        assertEquals(PeerHost.UNKNOWN, PeerHost.parsed("one b eth0=1 ib0=2"));
        assertEquals(InterfaceSpeed.UNKNOWN, InterfaceSpeed.parsed("eth0=fast"));
        assertEquals("lo", InterfaceSpeed.of(InetAddress.getLoopbackAddress()).text());
        assertEquals(
                "an unknown interface",
                InterfaceSpeed.of(AddressLookup.literal("192.0.2.77")).text());
        assertEquals("eth0 (100 Mbit/s)", new InterfaceSpeed("eth0", 100).text());
    }
}
