package ferro.backend.tcp.store;

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
 * A network interface and its speed, as reported by Linux in {@code /sys/class/net}.
 *
 * @param name     name that the system uses; empty if the name is unknown
 * @param megabits speed in megabits per second; 0 if the speed is unknown
 */
public record InterfaceSpeed(String name, long megabits) {
    static final InterfaceSpeed UNKNOWN = new InterfaceSpeed("", 0);
    public static final Path SYSTEM = Path.of("/sys/class/net");

    private static final int FASTER_MOST = 4;
    private static final int GIGABIT = 1_000;

    /** Returns the interface that has an address of this host. */
    public static InterfaceSpeed of(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            return found == null
                    ? UNKNOWN
                    : new InterfaceSpeed(found.getName(), speedOf(SYSTEM.resolve(found.getName())));
        } catch (SocketException unseen) {
            return UNKNOWN;
        }
    }

    /** Returns the faster network adapters and bonds of this host that are up, fastest first. Bridges are left out. */
    public List<InterfaceSpeed> faster(Path system) {
        if (megabits == 0) {
            return List.of();
        }
        List<InterfaceSpeed> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(system)) {
            all.filter(InterfaceSpeed::isCardAndUp)
                    .map(one -> new InterfaceSpeed(one.getFileName().toString(), speedOf(one)))
                    .filter(one -> one.megabits > megabits)
                    .sorted(Comparator.comparing(InterfaceSpeed::megabits)
                            .reversed()
                            .thenComparing(InterfaceSpeed::name))
                    .limit(FASTER_MOST)
                    .forEach(found::add);
        } catch (IOException | UncheckedIOException absent) {
            // the operating system is not Linux, or the folder cannot be read, so no speed is known
        }
        return found;
    }

    private static boolean isCardAndUp(Path one) {
        boolean card = Files.exists(one.resolve("device")) || Files.exists(one.resolve("bonding"));
        return card && line(one.resolve("operstate")).equals("up");
    }

    /** Returns the speed of an interface; 0 for a virtual interface, whose speed is -1 or cannot be read. */
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

    /**
     * Returns a text about a faster interface that is up on all hosts, as their ranks have reported; empty without such
     * an interface.
     */
    public static String fasterEverywhere(List<PeerHost> homes) {
        for (PeerHost home : homes) {
            if (home.faster().isEmpty()) {
                return "";
            }
        }
        List<InterfaceSpeed> everywhere = homes.get(0).faster().stream()
                .filter(one -> homes.stream()
                        .allMatch(home -> home.faster().stream().anyMatch(other -> other.name.equals(one.name))))
                .limit(1)
                .toList();
        List<InterfaceSpeed> named = everywhere.isEmpty()
                ? homes.stream().map(home -> home.faster().get(0)).distinct().toList()
                : everywhere;
        InterfaceSpeed used = homes.get(0).used();
        return "data goes over " + used.text() + ", but a faster interface is up on all hosts: "
                + named.stream().map(InterfaceSpeed::text).collect(Collectors.joining(", ")) + ": ferro.tcp.interface="
                + named.stream().map(InterfaceSpeed::name).distinct().collect(Collectors.joining(",")) + " uses it";
    }

    /** Returns a text such as {@code eth0 (10 Gbit/s)}. Parts that are unknown are left out. */
    public String text() {
        if (megabits == 0) {
            return name.isEmpty() ? "an unknown interface" : name;
        }
        String speed = megabits % GIGABIT == 0
                ? megabits / GIGABIT + " Gbit/s"
                : megabits > GIGABIT ? (double) megabits / GIGABIT + " Gbit/s" : megabits + " Mbit/s";
        return name + " (" + speed + ")";
    }

    /** Returns this interface as text for a {@link Roster.RankEntry}. */
    String word() {
        return name + "=" + megabits;
    }

    /**
     * Parses the text that {@link #word} has written. For an invalid text, returns an interface with unknown values.
     */
    static InterfaceSpeed parsed(String word) {
        int at = word.lastIndexOf('=');
        try {
            return at < 0 ? UNKNOWN : new InterfaceSpeed(word.substring(0, at), Long.parseLong(word.substring(at + 1)));
        } catch (NumberFormatException nonsense) {
            return UNKNOWN;
        }
    }
}
