package ferro.backend.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A network interface and how fast it is, as Linux says in {@code /sys/class/net}.
 *
 * @param name     as the system calls it; empty if it is unknown
 * @param megabits per second; 0 if that is unknown
 */
record NetLink(String name, long megabits) {
    static final NetLink UNKNOWN = new NetLink("", 0);
    static final Path SYSTEM = Path.of("/sys/class/net");

    private static final Comparator<NetLink> FASTEST_FIRST =
            Comparator.comparing(NetLink::megabits).reversed().thenComparing(NetLink::name);

    private static final int FASTER_MOST = 4;
    private static final int GIGABIT = 1_000;

    /** The one that has an address of this machine. */
    static NetLink of(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            return found == null ? UNKNOWN : new NetLink(found.getName(), speedOf(SYSTEM.resolve(found.getName())));
        } catch (SocketException unseen) {
            return UNKNOWN;
        }
    }

    /** Faster ones of this machine that are up, fastest first: network cards and bonds of them, not bridges or the like. */
    List<NetLink> faster(Path system) {
        if (megabits == 0) {
            return List.of();
        }
        List<NetLink> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(system)) {
            all.filter(NetLink::isCardAndUp)
                    .map(one -> new NetLink(one.getFileName().toString(), speedOf(one)))
                    .filter(one -> one.megabits > megabits)
                    .sorted(FASTEST_FIRST)
                    .limit(FASTER_MOST)
                    .forEach(found::add);
        } catch (IOException | UncheckedIOException absent) {
            // not Linux, or hidden: nothing is known
        }
        return found;
    }

    private static boolean isCardAndUp(Path one) {
        boolean card = Files.exists(one.resolve("device")) || Files.exists(one.resolve("bonding"));
        return card && line(one.resolve("operstate")).equals("up");
    }

    /** Virtual ones say -1, or refuse to be read. */
    private static long speedOf(Path one) {
        try {
            return Math.max(0, Long.parseLong(line(one.resolve("speed"))));
        } catch (NumberFormatException unknown) {
            return 0;
        }
    }

    private static String line(Path file) {
        try {
            return Files.readString(file).trim();
        } catch (IOException unreadable) {
            return "";
        }
    }

    /** Says, by what all hosts have said, that a faster one is up everywhere; empty if not. */
    static String fasterEverywhere(List<Home> homes) {
        if (homes.stream().anyMatch(home -> home.faster().isEmpty())) {
            return "";
        }
        List<NetLink> everywhere = homes.get(0).faster().stream()
                .filter(one -> homes.stream()
                        .allMatch(home -> home.faster().stream().anyMatch(other -> other.name.equals(one.name))))
                .limit(1)
                .toList();
        List<NetLink> named = everywhere.isEmpty()
                ? homes.stream().map(home -> home.faster().get(0)).distinct().toList()
                : everywhere;
        NetLink used = homes.get(0).used();
        return "data goes over " + used.text() + ", and a faster interface is up on all hosts: "
                + named.stream().map(NetLink::text).collect(Collectors.joining(", ")) + ": ferro.tcp.interface="
                + named.stream().map(NetLink::name).distinct().collect(Collectors.joining(",")) + " uses it";
    }

    /** Returns {@code eth0 (10 Gbit/s)}, or what is known of it. */
    String text() {
        if (megabits == 0) {
            return name.isEmpty() ? "an unknown interface" : name;
        }
        String speed = megabits % GIGABIT == 0
                ? megabits / GIGABIT + " Gbit/s"
                : megabits > GIGABIT ? (double) megabits / GIGABIT + " Gbit/s" : megabits + " Mbit/s";
        return name + " (" + speed + ")";
    }

    /** As it stands in a card. */
    String word() {
        return name + "=" + megabits;
    }

    /** Reads a word of a card; what makes no sense says nothing. */
    static NetLink parsed(String word) {
        int at = word.lastIndexOf('=');
        try {
            return at < 0 ? UNKNOWN : new NetLink(word.substring(0, at), Long.parseLong(word.substring(at + 1)));
        } catch (NumberFormatException nonsense) {
            return UNKNOWN;
        }
    }
}
