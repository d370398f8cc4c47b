package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.RankContext;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Resolves host names and finds the addresses of this host. The methods block, so no loop calls them. */
public final class AddressLookup {
    private static final long PAUSE_MILLIS = 250;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;
    /**
     * Addresses that are reserved for documentation (RFC 5737, RFC 3849). They only serve to find a route, and nothing
     * is sent to them.
     */
    private static final List<String> ELSEWHERE = List.of("192.0.2.1", "2001:db8::1");
    /** Target port of a UDP socket that only finds a route. The port does not matter, because nothing is sent. */
    private static final int DISCARD_PORT = 9;

    /**
     * Patterns of host names that mean loopback. They are in a separate class, because compiling them takes time and
     * most ranks never need them.
     */
    private static final class LoopbackNames {
        /** {@code localhost}, its subdomains (RFC 6761, section 6.3), and names that distributions give to loopback. */
        private static final Pattern LOCAL_NAME = Pattern.compile(
                "(.+\\.)?localhost\\.?|localhost[46]?(\\.localdomain[46]?)?|ip6-(localhost|loopback)",
                Pattern.CASE_INSENSITIVE);

        /** Short loopback addresses such as 127.1, whose last number fills all other bytes. Netty refuses them. */
        private static final Pattern SHORTENED = Pattern.compile("127(\\.\\d+){1,2}");

        private LoopbackNames() {}

        static boolean contain(String host) {
            return LOCAL_NAME.matcher(host).matches() || SHORTENED.matcher(host).matches();
        }
    }

    private AddressLookup() {}

    /**
     * Resolves a host name. Tries again until the deadline, because names of a cluster may be missing while the cluster
     * starts.
     *
     * @return the address of the name that {@link #nearest} selects
     * @throws FerroException RENDEZVOUS after the deadline, or if no single interface leads to a link-local address
     */
    public static InetAddress resolved(String host, long deadlineNanos, RankContext context, Where where) {
        return nearest(allResolved(host, deadlineNanos, context, where), where);
    }

    /** Resolves a host name like {@link #resolved}, but returns all addresses of the name, in Java's order. */
    public static List<InetAddress> allResolved(String host, long deadlineNanos, RankContext context, Where where) {
        long pauseMillis = PAUSE_MILLIS;
        for (int attempt = 0; true; attempt++) {
            try {
                return attempt(host, attempt);
            } catch (UnknownHostException unknown) {
                if (linkLocal(host).isPresent()) {
                    String text = "no way to host \"" + host + "\" of "
                            + SettingNames.of(context).ofHost() + " or ferro.tcp.bind: ";
                    throw new FerroException(Code.RENDEZVOUS, where, text + unknown.getMessage(), unknown);
                }
                long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - context.nanoTime());
                if (left <= 0) {
                    throw new FerroException(
                            Code.RENDEZVOUS,
                            where,
                            "host \"" + host + "\" was not resolved to an address in time: check "
                                    + SettingNames.of(context).ofHost() + " (ferro.join.timeout sets the time)",
                            unknown);
                }
                LoopWaiter.pause(
                        Math.min(pauseMillis, left),
                        where,
                        () -> "interrupted while resolving host \"" + host + "\" for \"" + where.group() + "\" rank "
                                + where.rank());
                pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            }
        }
    }

    /**
     * Resolves a host name once, to all its addresses. Java caches for ten seconds that a name has no address, and
     * caches the addresses of a name for thirty seconds. Java caches each spelling of a name separately, so later
     * attempts change the spelling. A spelling with other capital letters means the same host (RFC 4343). An IPv6
     * link-local address without an interface gets an interface of this host.
     *
     * @param attempt 0 for the unchanged name; each odd number changes the spelling in another way
     */
    public static List<InetAddress> attempt(String host, int attempt) throws UnknownHostException {
        List<InetAddress> named = new ArrayList<>();
        Optional<InetAddress> link = linkLocal(host);
        if (link.isPresent() && (host.indexOf('%') < 0 || !isKnown(host))) {
            String name = nameOfLink(link.get(), LocalInterface.all());
            return List.of(onInterface(name, link.get()));
        }
        for (InetAddress found : InetAddress.getAllByName(spelling(host, attempt))) {
            boolean scoped = found instanceof Inet6Address six && six.getScopeId() > 0;
            named.add(scoped ? found : InetAddress.getByAddress(host, found.getAddress()));
        }
        return List.copyOf(named);
    }

    /**
     * Selects one of a host's addresses. The route to the selected address determines the address by which peers reach
     * this host. Addresses of this host come first: if a name has an address of this host, the name means this host.
     * Addresses without a route come last.
     */
    public static InetAddress nearest(List<InetAddress> all, Where where) {
        for (InetAddress one : all) {
            if (TlsPolicy.isOwn(one)) {
                return one;
            }
        }
        for (InetAddress one : all) {
            if (hasRoute(one, where)) {
                return one;
            }
        }
        return all.get(0);
    }

    private static boolean hasRoute(InetAddress target, Where where) {
        try {
            return !routingTo(target, where).isAnyLocalAddress();
        } catch (FerroException none) {
            return false;
        }
    }

    /**
     * Returns addresses in the order in which a rank tries the addresses. IPv6 and IPv4 alternate, beginning with IPv6.
     * The order within an address family is kept.
     *
     * <p>Source: RFC 8305, section 4, with a First Address Family Count of 1.
     */
    public static List<InetSocketAddress> toDial(List<InetAddress> all, int port) {
        List<InetAddress> six = new ArrayList<>();
        List<InetAddress> four = new ArrayList<>();
        for (InetAddress one : new LinkedHashSet<>(all)) {
            (one instanceof Inet6Address ? six : four).add(one);
        }
        List<InetSocketAddress> turns = new ArrayList<>();
        for (int turn = 0; turn < all.size(); turn++) {
            for (List<InetAddress> family : List.of(six, four)) {
                if (turn < family.size()) {
                    turns.add(new InetSocketAddress(family.get(turn), port));
                }
            }
        }
        return List.copyOf(turns);
    }

    /** Returns the name with some letters as capital letters. The attempt number decides which letters. */
    static String spelling(String host, int attempt) {
        if (attempt % 2 == 0) {
            return host;
        }
        char[] letters = host.toCharArray();
        int bits = attempt / 2 + 1;
        for (int at = 0; at < letters.length && bits != 0; at++) {
            if (Character.isLetter(letters[at])) {
                letters[at] = (bits & 1) != 0 ? Character.toUpperCase(letters[at]) : letters[at];
                bits >>>= 1;
            }
        }
        return new String(letters);
    }

    /** Returns whether a text is an address and not a host name. */
    public static boolean isLiteral(String host) {
        return NetUtil.createInetAddressFromIpAddressString(host) != null;
    }

    /** Returns whether no interface of this host has the address, so that no process of this host can listen at it. */
    public static boolean isElsewhere(InetAddress address) {
        return !address.isAnyLocalAddress() && !TlsPolicy.isOwn(address);
    }

    /** Returns whether a text is an address, or a host name that currently resolves to an address. */
    public static boolean isKnown(String host) {
        try {
            InetAddress.getByName(host);
            return true;
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    /** Returns whether only this host can reach an address, or all addresses of a name; false if unknown. */
    public static boolean leadsToLoopback(String host) {
        try {
            for (InetAddress one : InetAddress.getAllByName(host)) {
                if (!one.isLoopbackAddress()) {
                    return false;
                }
            }
            return true;
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    /** Returns the address of this host on its default route, IPv4 before IPv6. */
    public static InetAddress ofDefaultRoute(Where where) {
        return ofDefaultRoute(where, false);
    }

    /**
     * Returns the address of this host on its default route. Without a default route, returns the only address of this
     * host that is neither loopback nor link-local. If there are several, returns the only one of the preferred family.
     *
     * @param six whether IPv6 is preferred to IPv4
     */
    static InetAddress ofDefaultRoute(Where where, boolean six) {
        for (String elsewhere : six ? List.of(ELSEWHERE.get(1), ELSEWHERE.get(0)) : ELSEWHERE) {
            try {
                InetAddress own = routingTo(literal(elsewhere), where);
                if (!own.isAnyLocalAddress() && !own.isLoopbackAddress()) {
                    return withoutInterface(own);
                }
            } catch (FerroException noRoute) {
                // this address family has no route; the other address family may have one
            }
        }
        List<InetAddress> all = ofInterfaces();
        List<InetAddress> first =
                all.stream().filter(one -> one instanceof Inet6Address == six).toList();
        for (List<InetAddress> found : List.of(all, first)) {
            if (found.size() == 1) {
                return found.get(0);
            }
        }
        throw new FerroException(
                Code.RENDEZVOUS,
                where,
                "rank " + where.rank() + " of \"" + where.group()
                        + "\" cannot choose the address to announce to the others: this machine has no default "
                        + "route and " + all.size() + " addresses besides loopback"
                        + all.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", ", " (", ")"))
                        + ": name one (ferro.tcp.interface, ferro.tcp.bind)");
    }

    private static List<InetAddress> ofInterfaces() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(one -> !one.isLoopbackAddress() && !one.isLinkLocalAddress())
                    .map(AddressLookup::withoutInterface)
                    .toList();
        } catch (SocketException none) {
            return List.of();
        }
    }

    /** Returns an address without its scope, because interfaces of other hosts have other names. */
    private static InetAddress withoutInterface(InetAddress own) {
        try {
            return InetAddress.getByAddress(own.getAddress());
        } catch (UnknownHostException oddLength) {
            throw new IllegalStateException("cannot copy the address of a network interface: " + own, oddLength);
        }
    }

    /** Returns the source address of packets from this host to a target. */
    public static InetAddress routingTo(InetAddress target, Where where) {
        if (target.isLoopbackAddress()) {
            return target;
        }
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(new InetSocketAddress(target, DISCARD_PORT));
            return probe.getLocalAddress();
        } catch (IOException unreachable) {
            throw new FerroException(
                    Code.RENDEZVOUS,
                    where,
                    "no route from this machine to " + target + " (" + unreachable + ")",
                    unreachable);
        }
    }

    /**
     * Parses an address that this code writes as a literal.
     *
     * @throws IllegalArgumentException if the text is not an address
     */
    public static InetAddress literal(String text) {
        InetAddress address = NetUtil.createInetAddressFromIpAddressString(text);
        if (address == null) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is no IP address: write one, such as 127.0.0.1 or ::1");
        }
        return address;
    }

    /** Returns a text as an IPv6 link-local address without its scope; empty for any other text. */
    public static Optional<InetAddress> linkLocal(String host) {
        // the scope after the percent sign names an interface of the host that has published the address
        int scope = host.indexOf('%');
        InetAddress bare = NetUtil.createInetAddressFromIpAddressString(scope < 0 ? host : host.substring(0, scope));
        return bare instanceof Inet6Address && bare.isLinkLocalAddress() ? Optional.of(bare) : Optional.empty();
    }

    /**
     * Returns an IPv6 link-local address together with the interface of this host that leads to the address.
     *
     * @param linkLocal address that another rank has published
     * @param own       address by which the other ranks reach this host
     * @return empty if the interface of the own address has no link-local address, for example loopback
     */
    public static Optional<InetAddress> onLinkOf(InetAddress own, InetAddress linkLocal) {
        try {
            return own.isLoopbackAddress()
                    ? Optional.empty()
                    : scoped(linkLocal, NetworkInterface.getByInetAddress(own));
        } catch (SocketException noLink) {
            return Optional.empty();
        }
    }

    /** Returns an address of an interface, with the scope that binding an IPv6 link-local address needs. */
    static InetAddress onInterface(String name, InetAddress address) {
        try {
            return address instanceof Inet6Address && address.isLinkLocalAddress()
                    ? scoped(address, NetworkInterface.getByName(name)).orElse(address)
                    : address;
        } catch (SocketException noLink) {
            return address;
        }
    }

    /** Returns the interface with this address, or the only interface that is up and has a link-local IPv6 address. */
    static String nameOfLink(InetAddress linkLocal, List<LocalInterface> all) throws UnknownHostException {
        List<String> names = new ArrayList<>();
        for (LocalInterface one : all) {
            if (one.addresses().contains(linkLocal)) {
                return one.name();
            }
            if (one.up() && one.hasLinkLocal()) {
                names.add(one.name());
            }
        }
        if (names.size() == 1) {
            return names.get(0);
        }
        String address = text(linkLocal);
        throw new UnknownHostException("the link-local address " + address
                + " holds on one network only, and this machine has such addresses on "
                + (names.isEmpty() ? "no interface" : "the interfaces " + String.join(", ", names)) + ": set "
                + address + "%NAME with the interface that leads there, or another address");
    }

    private static Optional<InetAddress> scoped(InetAddress linkLocal, NetworkInterface link) {
        try {
            return link == null
                    ? Optional.empty()
                    : Optional.of(Inet6Address.getByAddress(null, linkLocal.getAddress(), link));
        } catch (UnknownHostException noLinkLocal) {
            return Optional.empty();
        }
    }

    /** Returns whether a text is a loopback address, or a host name that means loopback on every host. */
    public static boolean isLoopback(String host) {
        // the scope after the percent sign names an interface of another host
        int scope = host.indexOf('%');
        InetAddress bare = NetUtil.createInetAddressFromIpAddressString(scope < 0 ? host : host.substring(0, scope));
        return bare != null ? bare.isLoopbackAddress() : LoopbackNames.contain(host);
    }

    /** Returns whether {@link #isLoopback} is true for each of these hosts. */
    public static boolean areLoopback(Collection<String> hosts) {
        for (String host : hosts) {
            if (!isLoopback(host)) {
                return false;
            }
        }
        return true;
    }

    /** Returns readable addresses, separated by commas. */
    public static String text(List<InetSocketAddress> addresses) {
        StringJoiner all = new StringJoiner(", ");
        for (InetSocketAddress address : addresses) {
            all.add(text(address));
        }
        return all.toString();
    }

    /** Returns a readable address with its port. An IPv6 address is in brackets. */
    public static String text(InetSocketAddress address) {
        return text(text(address.getAddress()), address.getPort());
    }

    /** Returns a readable address. An IPv6 address is shortened (RFC 5952) and keeps its scope. */
    public static String text(InetAddress address) {
        String full = address.getHostAddress();
        int scope = full.indexOf('%');
        return NetUtil.toAddressString(address) + (scope < 0 ? "" : full.substring(scope));
    }

    /** Returns a readable text for a host and a port. An IPv6 address is in brackets. */
    public static String text(String host, int port) {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
