package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Where;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

/**
 * A host name that this machine resolves to loopback. Such a name means this machine, and other hosts that resolve it
 * correctly cannot connect to a loopback address here. Many distributions write the machine's own name to /etc/hosts as
 * 127.0.1.1.
 *
 * @param name      host name
 * @param loopback  loopback address that this machine resolves the name to
 * @param reachable another address of this machine that the name resolves to, if there is one
 */
public record OwnHost(String name, InetAddress loopback, Optional<InetAddress> reachable) {
    /**
     * Resolves a name once. Blocks, so it is never called on a loop.
     *
     * @return empty if loopback was typed as such, if the name resolves to no loopback address, if it also resolves to an
     *     address of another machine, or if no address is known
     */
    public static Optional<OwnHost> find(String name) {
        if (Addresses.isLoopback(name)) {
            return Optional.empty();
        }
        List<InetAddress> all;
        try {
            all = Addresses.attempt(name, 0);
        } catch (UnknownHostException unknown) {
            return Optional.empty();
        }
        boolean elsewhere = !all.stream().allMatch(TlsPolicy::isOwn);
        Optional<InetAddress> loopback =
                all.stream().filter(InetAddress::isLoopbackAddress).findFirst();
        return elsewhere || loopback.isEmpty()
                ? Optional.empty()
                : Optional.of(new OwnHost(
                        name,
                        loopback.get(),
                        all.stream()
                                .filter(one -> !one.isLoopbackAddress() && !one.isLinkLocalAddress())
                                .findFirst()));
    }

    /**
     * Returns the address of this machine that other hosts can reach, if possible of the family of the loopback address.
     *
     * @throws FerroException RENDEZVOUS if the name has no other address here and this machine has no default route
     */
    public String reachableAddress(Where where) {
        boolean six = loopback instanceof Inet6Address;
        return Addresses.text(reachable.orElseGet(() -> Addresses.ofDefaultRoute(where, six)));
    }

    /** Returns what is wrong with the name, for messages. */
    public String trouble() {
        return "this machine resolves " + name + " to " + Addresses.text(loopback)
                + ", where no other host can reach it (often by a line in /etc/hosts)";
    }
}
