package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressChoice;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LocalInterface;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TlsProvider;
import ferro.backend.tcp.store.InterfaceSpeed;
import ferro.backend.tcp.store.Rendezvous;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.LinuxFiles;
import ferro.spi.PortRange;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The address, ports and other options that a rank with given settings would choose on this host. {@code ferro doctor}
 * prints them. This class binds no port and sends nothing.
 */
public final class TcpOutlook {
    private final String address;
    private final String addressReason;
    private final String link;
    private final String ports;
    private final String sockets;
    private final String congestion;
    private final String encryption;

    private TcpOutlook(RankContext context) {
        SocketConfig io = SocketConfig.of(context);
        GroupSpec alone = GroupSpec.of("doctor", 0, 1, Deadlines.ofCalls(context));
        Where where = Where.of(alone.name(), alone.rank());
        Optional<Rendezvous> meeting = Rendezvous.find(alone, context);
        String host = meeting.map(Rendezvous::host).orElse("127.0.0.1");
        String reason = meeting.map(known -> "it routes to the rendezvous at " + known.host())
                .orElse("loopback, for a job on this host: no rendezvous is set (MASTER_ADDR)");
        InetAddress at = AddressLookup.resolved(host, context.nanoTime(), context, where);
        // the settings may be those of rank 0 although ferro doctor does not run on the host of the store
        boolean servedHere = meeting.filter(Rendezvous::servedHere).isPresent()
                && AddressLookup.routingTo(at, where).equals(at);
        AddressChoice choice = AddressChoice.of(
                context, where, new AddressChoice.StoreLocation(at, servedHere, reason), LocalInterface::all);
        address = choice.advertise();
        addressReason = choice.reason();
        link = link(choice);
        ports = ports(context, meeting, servedHere);
        sockets = sockets(context, io);
        congestion = congestion(context, io);
        encryption = encryption(context);
    }

    /**
     * Determines what a rank with the given settings would choose on this host.
     *
     * @param context settings to read
     * @return what the rank would choose
     * @throws FerroException           RENDEZVOUS if a host name has no address or no route, or ferro cannot run with
     *     the Netty of the class path
     * @throws IllegalArgumentException if a setting is invalid
     */
    public static TcpOutlook of(RankContext context) {
        return NettyModules.with(Where.of("doctor", 0), () -> new TcpOutlook(context));
    }

    /** {@return the address that this rank would publish to the other ranks} */
    public String address() {
        return address;
    }

    /** {@return why a rank would publish {@link #address}} */
    public String addressReason() {
        return addressReason;
    }

    /** {@return the network interface of {@link #address} with its speed, and a faster interface if one is up} */
    public String link() {
        return link;
    }

    /** {@return the ports at which ranks of this host listen} */
    public String ports() {
        return ports;
    }

    /** {@return how sockets are polled, by epoll or by NIO, and the reason if epoll is not used} */
    public String sockets() {
        return sockets;
    }

    /** {@return the congestion control algorithm of data links} */
    public String congestion() {
        return congestion;
    }

    /** {@return which connections are encrypted} */
    public String encryption() {
        return encryption;
    }

    private static String link(AddressChoice choice) {
        InetAddress at = choice.reachable();
        InterfaceSpeed used = InterfaceSpeed.of(at);
        if (at.isLoopbackAddress()) {
            return used.text() + ", for a job on this host";
        }
        List<InterfaceSpeed> faster = used.faster(InterfaceSpeed.SYSTEM);
        return faster.isEmpty()
                ? used.text()
                : used.text() + "; " + faster.get(0).text() + " is also up: if all hosts have it, "
                        + Settings.TCP_INTERFACE.name() + "=" + faster.get(0).name() + " uses it";
    }

    /**
     * Returns the network interfaces of this host that {@code ferro.tcp.interface} allows.
     *
     * @param context settings to read
     * @return names, the preferred one first; empty if the setting is absent or allows no interface
     * @throws IllegalArgumentException if the setting is invalid
     */
    public static List<String> interfaces(RankContext context) {
        return Settings.TCP_INTERFACE
                .find(context)
                .map(filter -> AddressChoice.names(filter, LocalInterface.all()))
                .orElse(List.of());
    }

    /** {@return a readable text about the versions of Netty's modules; empty if all modules have the same version} */
    public static Optional<String> mixedNetty() {
        return NettyModules.mixed();
    }

    private static String ports(RankContext context, Optional<Rendezvous> meeting, boolean servedHere) {
        PortRange range = Settings.TCP_PORT.of(context);
        int store = servedHere ? meeting.map(Rendezvous::port).orElse(0) : 0;
        if (store > 0) {
            return "rank 0 listens on " + store + ", where it serves the store";
        }
        String setting = Settings.TCP_PORT.name() + "=" + range;
        if (range.size() == 1) {
            return range.any() ? "any free port" : setting + ", for one rank of this host";
        }
        return setting + ", for " + range.size() + " ranks of this host";
    }

    private static String sockets(RankContext context, SocketConfig io) {
        if (io.epoll()) {
            return "epoll";
        }
        if (Settings.TCP_IO.of(context).equals("nio")) {
            return "nio, set by " + Settings.TCP_IO.name();
        }
        return SocketConfig.epollAvoidedBecause()
                .map("nio, because epoll cannot work here: "::concat)
                .orElse("nio");
    }

    private static String congestion(RankContext context, SocketConfig io) {
        String ofSystem = "the system's"
                + systemCongestion().map(name -> " (" + name + ")").orElse("");
        String asked = Settings.TCP_CONGESTION.of(context);
        if (!io.epoll() || asked.equals("system")) {
            return ofSystem + (io.epoll() ? "" : ", which nio cannot change");
        }
        return asked.equals("auto") ? "reno on loopback, elsewhere " + ofSystem : asked;
    }

    private static String encryption(RankContext context) {
        return switch (Settings.TLS.of(context)) {
            case "off" -> "none, set by " + Settings.TLS.name();
            case "on" -> "all connections, by TLS 1.3 of " + engines(context);
            default -> "connections between hosts, by TLS 1.3 of " + engines(context);
        };
    }

    private static String engines(RankContext context) {
        String missing = TlsProvider.missingOpenSsl();
        return switch (Settings.TLS_PROVIDER.of(context)) {
            case "jdk" -> TlsProvider.JDK.toString();
            case "openssl" -> TlsProvider.OPENSSL + (missing == null ? "" : ", which cannot be used: " + missing);
            default -> TlsProvider.fastest().toString();
        };
    }

    private static Optional<String> systemCongestion() {
        return LinuxFiles.HOST.line("sys/net/ipv4/tcp_congestion_control");
    }
}
