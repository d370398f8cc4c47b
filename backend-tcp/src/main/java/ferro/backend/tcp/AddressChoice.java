package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.spi.InterfaceFilter;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Which address a rank listens on and which it tells the others, and why.
 *
 * @param bind      listened on
 * @param reachable of this machine, by which the others come unless something stands between
 * @param advertise told
 * @param reason    why this one is told
 */
record AddressChoice(InetAddress bind, InetAddress reachable, String advertise, String reason) {
    private static final String AUTO = "auto";
    private static final String FILTER = Settings.TCP_INTERFACE.name();

    /** Where the store is, as this rank sees it. */
    record Meeting(InetAddress at, boolean servedHere, String reason) {}

    /**
     * Chooses: what names an address wins over {@code ferro.tcp.interface}, that over the address that routes to the store.
     *
     * @throws IllegalArgumentException if no interface of this machine is one of those named
     * @throws FerroException           RENDEZVOUS without a route to the store
     */
    static AddressChoice of(RankContext context, Where where, Meeting meeting, Supplier<List<LocalInterface>> all) {
        String asked = Settings.TCP_BIND.of(context);
        InetAddress routing = meeting.servedHere ? meeting.at : Addresses.routingTo(meeting.at, where);
        Optional<InetAddress> named = Optional.empty();
        boolean fixed = !asked.equals(AUTO);
        InetAddress bind = fixed ? Addresses.resolved(asked, context.nanoTime(), context, where) : routing;
        if (!fixed || bind.isAnyLocalAddress()) {
            named = Settings.TCP_INTERFACE.find(context).map(filter -> picked(filter, routing, all.get()));
        }
        InetAddress reachable = named.orElse(bind.isAnyLocalAddress() ? routing : bind);
        String told = Settings.TCP_ADVERTISE.of(context);
        if (!fixed && named.isPresent()) {
            boolean alsoStore = meeting.servedHere && !reachable.equals(meeting.at);
            bind = alsoStore ? wildcard(reachable, meeting.at) : reachable;
        }
        return told.equals(AUTO)
                ? new AddressChoice(bind, reachable, reachable.getHostAddress(), reason(context, fixed, named, meeting))
                : new AddressChoice(bind, reachable, told, Settings.TCP_ADVERTISE.name() + "=" + told + " says so");
    }

    private static String reason(RankContext context, boolean fixed, Optional<InetAddress> named, Meeting meeting) {
        if (named.isPresent()) {
            return FILTER + "=" + Settings.TCP_INTERFACE.of(context) + " says so";
        }
        return fixed ? Settings.TCP_BIND.name() + "=" + Settings.TCP_BIND.of(context) + " says so" : meeting.reason;
    }

    /** The store is expected at one address and the data at another: both come in by one port. */
    private static InetAddress wildcard(InetAddress reachable, InetAddress meeting) {
        boolean six = reachable instanceof Inet6Address || meeting instanceof Inet6Address;
        return Addresses.literal(six ? "::" : "0.0.0.0");
    }

    /** An address that may be used; the lower the rank the better. */
    private record Candidate(String name, InetAddress address, int rank) {}

    /**
     * Best is the address that routes to the store; then what stands first in the list, then what is of the store's family.
     * Loopback counts only where it is named, or the store is there.
     */
    private static List<Candidate> candidates(InterfaceFilter filter, InetAddress routing, List<LocalInterface> all) {
        List<Candidate> found = new ArrayList<>();
        for (LocalInterface one : all) {
            for (InetAddress address : one.up() ? one.addresses() : List.<InetAddress>of()) {
                int place = filter.place(one.name(), address);
                if (address.equals(routing) && place >= 0) {
                    found.add(new Candidate(one.name(), address, -1));
                } else if (place >= 0 && !(filter.isExcluding() && address.isLoopbackAddress())) {
                    int family = address.getClass() == routing.getClass() ? 0 : 1;
                    found.add(new Candidate(one.name(), address, 2 * place + family));
                }
            }
        }
        found.sort(Comparator.comparingInt(Candidate::rank));
        return found;
    }

    private static InetAddress picked(InterfaceFilter filter, InetAddress routing, List<LocalInterface> all) {
        List<Candidate> found = candidates(filter, routing, all);
        if (found.isEmpty()) {
            throw new IllegalArgumentException(FILTER + "=" + filter
                    + ": no interface that is up has an address that may be used; there are "
                    + all.stream().map(LocalInterface::text).collect(Collectors.joining(", "))
                    + "; addresses of one link (fe80::, 169.254.) count only where such a network is named");
        }
        Candidate best = found.get(0);
        return best.rank < 0 ? routing : best.address;
    }

    /** The interfaces that a filter allows, best first. */
    static List<String> names(InterfaceFilter filter, List<LocalInterface> all) {
        return candidates(filter, InetAddress.getLoopbackAddress(), all).stream()
                .map(Candidate::name)
                .distinct()
                .toList();
    }
}
