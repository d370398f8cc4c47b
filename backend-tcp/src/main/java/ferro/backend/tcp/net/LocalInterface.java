package ferro.backend.tcp.net;

import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A network interface of this host.
 *
 * @param name      name that the system uses
 * @param up        whether the interface is up
 * @param addresses addresses without a scope
 */
public record LocalInterface(String name, boolean up, List<InetAddress> addresses) {
    /** Returns the interfaces of this host, in the system's order. */
    public static List<LocalInterface> all() {
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

    /** Returns an address without its scope, because only this host understands the scope. */
    static InetAddress withoutScope(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException("no address: " + address, impossible);
        }
    }

    /** Returns whether this interface has an IPv6 link-local address. */
    boolean hasLinkLocal() {
        return addresses.stream().anyMatch(one -> one instanceof Inet6Address && one.isLinkLocalAddress());
    }

    /** Returns a text for messages, such as {@code eth0 (10.0.0.1, fd00::1)}. */
    String text() {
        String all = addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "));
        return name + " (" + (up ? "" : "down") + (up || all.isEmpty() ? "" : ", ")
                + (up && all.isEmpty() ? "no address" : all) + ")";
    }
}
