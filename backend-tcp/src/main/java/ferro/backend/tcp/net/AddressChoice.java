package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.spi.InterfaceFilter;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The addresses that a rank chooses: the address at which the rank listens, and the address that it publishes.
 *
 * @param bind      address at which the rank listens
 * @param reachable address of this host to which the other ranks connect if no proxy or NAT is in between
 * @param advertise address that is published to the other ranks
 * @param reason    why {@code advertise} is published
 */
public record AddressChoice(InetAddress bind, InetAddress reachable, String advertise, String reason) {
    private static final String AUTO = "auto";
    private static final String FILTER = Settings.TCP_INTERFACE.name();

    /**
     * The location of the store. {@code reason} says why the route to the store decides which addresses a rank uses.
     */
    public record StoreLocation(InetAddress at, boolean servedHere, String reason) {}

    /**
     * Chooses the addresses. A setting that names an address has priority, then {@code ferro.tcp.interface}. Without
     * these settings, the address from which packets go to the store is chosen.
     *
     * @throws IllegalArgumentException if no interface of this host matches the setting
     * @throws FerroException           RENDEZVOUS if this host has no route to the store
     */
    public static AddressChoice of(
            RankContext context, Where where, StoreLocation meeting, Supplier<List<LocalInterface>> all) {
        String asked = Settings.TCP_BIND.of(context);
        InetAddress routing = meeting.servedHere ? meeting.at : AddressLookup.routingTo(meeting.at, where);
        Optional<InetAddress> named = Optional.empty();
        boolean fixed = !asked.equals(AUTO);
        InetAddress bind = fixed ? named(asked, routing, context, where) : routing;
        if (!fixed || bind.isAnyLocalAddress()) {
            Optional<InterfaceFilter> filter = Settings.TCP_INTERFACE.find(context);
            named = filter.isPresent() ? Optional.of(picked(filter.get(), routing, all.get())) : Optional.empty();
        }
        InetAddress reachable = named.orElse(bind.isAnyLocalAddress() ? routing : bind);
        String told = Settings.TCP_ADVERTISE.of(context);
        if (!fixed && named.isPresent()) {
            boolean alsoStore = meeting.servedHere && !reachable.equals(meeting.at);
            bind = alsoStore ? wildcard(reachable, meeting.at) : reachable;
        }
        return told.equals(AUTO)
                ? new AddressChoice(bind, reachable, reachable.getHostAddress(), reason(context, fixed, named, meeting))
                : new AddressChoice(bind, reachable, told, "set by " + Settings.TCP_ADVERTISE.name() + "=" + told);
    }

    /**
     * Returns the address at which to listen. If the name resolves to loopback, another address is returned, unless the
     * route to the store is loopback. The other address is an address of the name on this host. If the name has no
     * other address, the address that routes to the store is returned.
     */
    private static InetAddress named(String asked, InetAddress routing, RankContext context, Where where) {
        Optional<LoopbackHostName> own = routing.isLoopbackAddress() ? Optional.empty() : LoopbackHostName.find(asked);
        if (own.isEmpty()) {
            return AddressLookup.resolved(asked, context.nanoTime(), context, where);
        }
        InetAddress address = own.get().reachable().orElse(routing);
        PlainLoggers.logger("ferro.join")
                .log(
                        Level.WARNING,
                        "rank " + where.rank() + " of \"" + where.group() + "\": " + Settings.TCP_BIND.name() + "="
                                + asked
                                + ": " + own.get().trouble() + "; the rank listens at " + address.getHostAddress()
                                + " instead");
        return address;
    }

    private static String reason(
            RankContext context, boolean fixed, Optional<InetAddress> named, StoreLocation meeting) {
        if (named.isPresent()) {
            return "set by " + FILTER + "=" + Settings.TCP_INTERFACE.of(context);
        }
        return fixed ? "set by " + Settings.TCP_BIND.name() + "=" + Settings.TCP_BIND.of(context) : meeting.reason;
    }

    /**
     * Returns the wildcard address. A rank that listens at this address is reachable at the address of the store and at
     * the address of the data links.
     */
    private static InetAddress wildcard(InetAddress reachable, InetAddress meeting) {
        boolean six = reachable instanceof Inet6Address || meeting instanceof Inet6Address;
        return AddressLookup.literal(six ? "::" : "0.0.0.0");
    }

    /** An address that may be used. An address with a lower {@code rank} is better. */
    private record AddressCandidate(String name, InetAddress address, int rank) {}

    /**
     * Returns the usable addresses, best first. The address that routes to the store is best. The other addresses are
     * in the order of the entries of the setting. Of the addresses that match the same entry, an address of the store's
     * address family comes first. Loopback is usable only if the setting names loopback, or if loopback routes to the
     * store.
     */
    private static List<AddressCandidate> candidates(
            InterfaceFilter filter, InetAddress routing, List<LocalInterface> all) {
        List<AddressCandidate> found = new ArrayList<>();
        for (LocalInterface one : all) {
            for (InetAddress address : one.up() ? one.addresses() : List.<InetAddress>of()) {
                int place = filter.place(one.name(), address);
                if (address.equals(routing) && place >= 0) {
                    found.add(new AddressCandidate(one.name(), address, -1));
                } else if (place >= 0 && !(filter.isExcluding() && address.isLoopbackAddress())) {
                    int family = address.getClass() == routing.getClass() ? 0 : 1;
                    found.add(new AddressCandidate(one.name(), address, 2 * place + family));
                }
            }
        }
        found.sort(Comparator.comparingInt(AddressCandidate::rank));
        return found;
    }

    private static InetAddress picked(InterfaceFilter filter, InetAddress routing, List<LocalInterface> all) {
        List<AddressCandidate> found = candidates(filter, routing, all);
        if (found.isEmpty()) {
            throw new IllegalArgumentException(FILTER + "=" + filter
                    + ": no interface that is up has a usable address; found: "
                    + all.stream().map(LocalInterface::text).collect(Collectors.joining(", "))
                    + "; link-local addresses (fe80::, 169.254.) count only if the setting names such a " + "network");
        }
        AddressCandidate best = found.get(0);
        return best.rank < 0 ? routing : AddressLookup.onInterface(best.name, best.address);
    }

    /** Returns the names of the interfaces that a filter allows, best first. */
    public static List<String> names(InterfaceFilter filter, List<LocalInterface> all) {
        return candidates(filter, InetAddress.getLoopbackAddress(), all).stream()
                .map(AddressCandidate::name)
                .distinct()
                .toList();
    }
}
