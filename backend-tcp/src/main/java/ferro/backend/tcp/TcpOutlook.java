package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a rank with these settings would do on this machine, for {@code ferro doctor}; nothing is bound or sent.
 *
 * @param address       that other ranks would be told
 * @param addressReason why this one
 * @param sockets       how they are driven, and why not better
 * @param congestion    congestion control of data links
 */
public record TcpOutlook(String address, String addressReason, String sockets, String congestion) {
    /**
     * Looks.
     *
     * @param context settings to look at
     * @return outlook
     * @throws FerroException           RENDEZVOUS if a host name has no address, or no route leads there
     * @throws IllegalArgumentException if a setting makes no sense
     */
    public static TcpOutlook of(RankContext context) {
        TcpIo io = TcpIo.of(context);
        GroupSpec alone = new GroupSpec("doctor", 0, 1, Settings.TIMEOUT.of(context));
        Where where = Where.outside(alone.name(), alone.rank());
        Optional<Rendezvous> meeting = Rendezvous.find(alone, context);
        String host = meeting.map(Rendezvous::host).orElse("127.0.0.1");
        String reason = meeting.map(known -> "it routes to the rendezvous at " + known.host())
                .orElse("loopback, as nothing names a rendezvous (MASTER_ADDR): a job on this host");
        InetAddress routing = Addresses.routingTo(Addresses.resolved(host, context.nanoTime(), context, where), where);
        return new TcpOutlook(
                told(context, where, routing).orElse(routing.getHostAddress()),
                settled(context).orElse(reason),
                sockets(context, io),
                congestion(context, io));
    }

    private static Optional<String> told(RankContext context, Where where, InetAddress routing) {
        String advertised = Settings.TCP_ADVERTISE.of(context);
        if (!advertised.equals("auto")) {
            return Optional.of(advertised);
        }
        String bound = Settings.TCP_BIND.of(context);
        if (bound.equals("auto")) {
            return Optional.empty();
        }
        InetAddress asked = Addresses.resolved(bound, context.nanoTime(), context, where);
        return Optional.of((asked.isAnyLocalAddress() ? routing : asked).getHostAddress());
    }

    private static Optional<String> settled(RankContext context) {
        for (Setting<String> setting : List.of(Settings.TCP_ADVERTISE, Settings.TCP_BIND)) {
            String value = setting.of(context);
            if (!value.equals("auto")) {
                return Optional.of(setting.name() + "=" + value + " says so");
            }
        }
        return Optional.empty();
    }

    private static String sockets(RankContext context, TcpIo io) {
        if (io.epoll()) {
            return "epoll";
        }
        if (Settings.TCP_IO.of(context).equals("nio")) {
            return "nio, as " + Settings.TCP_IO.name() + " says";
        }
        return "nio, as epoll cannot work here: " + Epoll.unavailabilityCause();
    }

    private static String congestion(RankContext context, TcpIo io) {
        String ofSystem = "the system's"
                + systemCongestion().map(name -> " (" + name + ")").orElse("");
        String asked = Settings.TCP_CONGESTION.of(context);
        if (!io.epoll() || asked.equals("system")) {
            return ofSystem + (io.epoll() ? "" : ", which nio cannot change");
        }
        return asked.equals("auto") ? "reno on loopback, elsewhere " + ofSystem : asked;
    }

    private static Optional<String> systemCongestion() {
        try {
            return Optional.of(Files.readString(Path.of("/proc/sys/net/ipv4/tcp_congestion_control"))
                    .trim());
        } catch (IOException unknown) {
            return Optional.empty();
        }
    }
}
