package ferro.backend.tcp;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A network interface of this machine.
 *
 * @param name      as the system calls it
 * @param up        whether it is up
 * @param addresses without a scope
 */
record LocalInterface(String name, boolean up, List<InetAddress> addresses) {
    /** Those of this machine, in the system's order. */
    static List<LocalInterface> all() {
        try {
            List<LocalInterface> all = new ArrayList<>();
            for (NetworkInterface one : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                List<InetAddress> addresses = Collections.list(one.getInetAddresses()).stream()
                        .map(LocalInterface::withoutScope)
                        .toList();
                all.add(new LocalInterface(one.getName(), one.isUp(), addresses));
            }
            return all;
        } catch (SocketException unable) {
            throw new UncheckedIOException("cannot list the network interfaces of this machine", unable);
        }
    }

    /** The scope of an address is a number of this machine, and means nothing elsewhere. */
    static InetAddress withoutScope(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException("no address: " + address, impossible);
        }
    }

    /** Returns {@code eth0 (10.0.0.1, fd00::1)}; for messages. */
    String text() {
        String all = addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "));
        return name + " (" + (up ? "" : "down") + (up || all.isEmpty() ? "" : ", ")
                + (up && all.isEmpty() ? "no address" : all) + ")";
    }
}
