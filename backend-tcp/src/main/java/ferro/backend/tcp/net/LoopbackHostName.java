package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Where;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

/**
 * A host name that means this host, and that this host resolves to a loopback address. Many distributions write the
 * host's own name to /etc/hosts as 127.0.1.1. Other hosts resolve the name correctly. Therefore other hosts cannot
 * reach a rank that listens at the loopback address.
 *
 * @param name      host name
 * @param loopback  loopback address to which this host resolves the name
 * @param reachable another address of this host to which the name resolves, if any
 */
public record LoopbackHostName(String name, InetAddress loopback, Optional<InetAddress> reachable) {
    /**
     * Resolves a host name once. This method blocks, so event loops must not call it.
     *
     * @return empty if the name is a loopback address or means loopback on every host. The result is also empty if the
     *     name is unknown, does not resolve to loopback, or also resolves to an address of another host
     */
    public static Optional<LoopbackHostName> find(String name) {
        if (AddressLookup.isLoopback(name)) {
            return Optional.empty();
        }
        List<InetAddress> all;
        try {
            all = AddressLookup.attempt(name, 0);
        } catch (UnknownHostException unknown) {
            return Optional.empty();
        }
        boolean elsewhere = !all.stream().allMatch(TlsPolicy::isOwn);
        Optional<InetAddress> loopback =
                all.stream().filter(InetAddress::isLoopbackAddress).findFirst();
        return elsewhere || loopback.isEmpty()
                ? Optional.empty()
                : Optional.of(new LoopbackHostName(
                        name,
                        loopback.get(),
                        all.stream()
                                .filter(one -> !one.isLoopbackAddress() && !one.isLinkLocalAddress())
                                .findFirst()));
    }

    /**
     * Returns an address of this host that other hosts can reach. An address of the loopback address's family is
     * preferred.
     *
     * @throws FerroException RENDEZVOUS if the name has no other address on this host, and this host has no default
     *     route
     */
    public String reachableAddress(Where where) {
        boolean six = loopback instanceof Inet6Address;
        return AddressLookup.text(reachable.orElseGet(() -> AddressLookup.ofDefaultRoute(where, six)));
    }

    /** Returns a description of the problem with the name, for messages. */
    public String trouble() {
        return "this machine resolves " + name + " to " + AddressLookup.text(loopback)
                + ", where no other host can reach it (often by a line in /etc/hosts)";
    }
}
