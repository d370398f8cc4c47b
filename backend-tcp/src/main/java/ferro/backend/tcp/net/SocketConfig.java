package ferro.backend.tcp.net;

import ferro.spi.RankContext;
import ferro.spi.Settings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * The choice between epoll and NIO, and the options of sockets. Epoll is used if Netty's native library can be loaded.
 */
public final class SocketConfig {
    /** {@code IPPROTO_TCP} and {@code TCP_CONGESTION} of linux/tcp.h. An algorithm's name has at most 16 bytes. */
    private static final int IPPROTO_TCP = 6;

    private static final int TCP_CONGESTION = 13;
    private static final int CONGESTION_NAME_BYTES = 16;
    /** {@code TCP_RTO_MAX_MS} of linux/tcp.h, since Linux 6.15. */
    private static final int TCP_RTO_MAX_MS = 44;
    /** The lowest value of {@code TCP_RTO_MAX_MS} that Linux allows. */
    private static final int LONGEST_BACKOFF_MILLIS = 1_000;
    /** Idle time of a link before the kernel probes the peer, because firewalls drop idle connections. */
    private static final int KEEP_IDLE_SECONDS = 60;
    /**
     * Number of unanswered probes after which the kernel ends a link, which takes half an hour. Heartbeats detect a
     * lost peer much earlier.
     */
    private static final int KEEP_ASKED_MOST = 30;

    private static final String NATIVE = "io.netty.channel.epoll.Native";
    private static final String AUTO = "auto";
    private static final String SYSTEM = "system";

    private final boolean epoll;
    private final String congestion;
    private final boolean checksum;
    private final long keyBytes;
    private final PeerTimeouts peerTimeouts;

    private SocketConfig(boolean epoll, String congestion, boolean checksum, long keyBytes, PeerTimeouts peerTimeouts) {
        this.epoll = epoll;
        this.congestion = congestion;
        this.checksum = checksum;
        this.keyBytes = keyBytes;
        this.peerTimeouts = peerTimeouts;
    }

    /**
     * How long this rank waits for peers.
     *
     * @param answerLimit time for each answer of a handshake
     * @param debug       whether a peer may stop at a breakpoint
     */
    private record PeerTimeouts(Duration answerLimit, boolean debug) {}

    /**
     * Reads the settings {@code ferro.tcp.io}, {@code ferro.tcp.congestion}, {@code ferro.tcp.checksum}, {@code
     * ferro.tcp.handshake.timeout}, {@code ferro.tls.key.bytes} and {@code ferro.debug}.
     *
     * @throws IllegalArgumentException naming the setting, if epoll is required but unavailable, or if a socket of this
     *     host does not accept the congestion control
     */
    public static SocketConfig of(RankContext context) {
        String wanted = Settings.TCP_IO.of(context);
        boolean epoll = switch (wanted) {
            case "auto" -> epollAvoidedBecause().isEmpty();
            case "epoll" -> {
                if (!epollWorks()) {
                    throw new IllegalArgumentException("ferro.tcp.io=epoll cannot work here ("
                            + Epoll.unavailabilityCause() + "): use auto or nio");
                }
                yield true;
            }
            case "nio" -> false;
            default -> throw new IllegalArgumentException("ferro.tcp.io=" + wanted + ": need auto, epoll or nio");
        };
        String congestion = Settings.TCP_CONGESTION.of(context);
        checkCongestion(congestion, epoll);
        return new SocketConfig(
                epoll,
                congestion,
                Settings.TCP_CHECKSUM.of(context),
                Settings.TLS_KEY_BYTES.of(context),
                new PeerTimeouts(Settings.TCP_HANDSHAKE_TIMEOUT.of(context), Settings.DEBUG.of(context)));
    }

    /** Returns whether Netty's native library for epoll was loaded. */
    private static boolean epollWorks() {
        return NettyCaller.call(Epoll::isAvailable);
    }

    /**
     * Returns why {@code ferro.tcp.io=auto} does not choose epoll, and what the user can do; empty if epoll is chosen.
     * Loads Netty's native library only if no other copy of Netty can be harmed.
     */
    public static Optional<String> epollAvoidedBecause() {
        if (sharesNativePart(Epoll.class.getClassLoader(), ClassLoader.getSystemClassLoader())) {
            return Optional.of("this program contains a second Netty, and the Netty of the JVM would lose its "
                    + "native methods when this program is unloaded: remove one of the two, or set "
                    + "ferro.tcp.io=epoll if the program is never unloaded");
        }
        return epollWorks()
                ? Optional.empty()
                : Optional.of(Epoll.unavailabilityCause()
                        + (NettyModules.areOwn()
                                ? ": ferro-backend-tcp-shaded has it for Linux on x86_64 and aarch64"
                                : ": add netty-transport-native-epoll for this machine"));
    }

    /**
     * Returns whether the JVM's class path has another copy of the Java class with Netty's native methods. When the
     * class loader {@code own} is collected, JNI_OnUnload of the native library finds this class through the system
     * class loader. JNI_OnUnload would then unregister the methods of the other copy.
     */
    static boolean sharesNativePart(ClassLoader own, ClassLoader system) {
        if (own == system) {
            return false;
        }
        try {
            return Class.forName(NATIVE, false, system).getClassLoader() != own;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /**
     * Sets the congestion control on a socket as a test, so that a wrong name fails the join and not the first
     * collective.
     */
    private static void checkCongestion(String name, boolean epoll) {
        if (name.equals(AUTO) || name.equals(SYSTEM)) {
            return;
        }
        String setting = Settings.TCP_CONGESTION.name() + "=" + name + ": ";
        if (name.isEmpty() || name.length() >= CONGESTION_NAME_BYTES || !name.matches("[!-~]*")) {
            throw new IllegalArgumentException(setting + "need auto, system or a name of 1 to "
                    + (CONGESTION_NAME_BYTES - 1) + " printable ASCII characters, found " + name.length());
        }
        if (!epoll) {
            return;
        }
        try {
            NettyCaller.run(() -> tryCongestion(name));
        } catch (ChannelException refused) {
            throw new IllegalArgumentException(
                    setting + "this machine does not accept it (" + refused.getMessage()
                            + "): see /proc/sys/net/ipv4/tcp_allowed_congestion_control for names, or use auto",
                    refused);
        }
    }

    private static void tryCongestion(String name) {
        Channel probe = new EpollSocketChannel();
        try {
            congestion(probe, name);
        } finally {
            probe.unsafe().closeForcibly();
        }
    }

    /**
     * If {@code ferro.tcp.io=auto} has chosen NIO on Linux, returns the reason, and what the user can do. Returns empty
     * in all other cases, such as a setting other than {@code auto}, or another operating system.
     */
    public Optional<String> lacking(RankContext context) {
        if (epoll
                || !Settings.TCP_IO.of(context).equals("auto")
                || !System.getProperty("os.name").equals("Linux")) {
            return Optional.empty();
        }
        return epollAvoidedBecause()
                .map(why -> "NIO polls the sockets, because epoll cannot work here (" + why
                        + "; or set ferro.tcp.io=nio to accept this): each message takes more time, arrays are "
                        + "copied, ferro.tcp.congestion has no effect, and the system's keep-alive times apply "
                        + "to idle connections");
    }

    /** Returns the default options for this host, for callers that have no settings. */
    public static SocketConfig standard() {
        Duration answerLimit = Settings.TCP_HANDSHAKE_TIMEOUT.read(
                Settings.TCP_HANDSHAKE_TIMEOUT.fallback().orElseThrow());
        return new SocketConfig(
                epollAvoidedBecause().isEmpty(), AUTO, false, Long.MAX_VALUE, new PeerTimeouts(answerLimit, false));
    }

    /** Returns whether sockets use the kernel's epoll and not NIO. */
    public boolean epoll() {
        return epoll;
    }

    /** Returns whether data between ranks is sent with checksums. */
    public boolean checksum() {
        return checksum;
    }

    /**
     * Returns how many bytes a side encrypts before the connection is replaced. Not used if the TLS engine renews its
     * keys itself.
     */
    public long keyBytes() {
        return keyBytes;
    }

    /** Returns how long a connecting side waits for each answer of a handshake before it connects again. */
    Duration answerLimit() {
        return peerTimeouts.answerLimit;
    }

    /** Returns whether a peer may stop at a breakpoint for any length of time. */
    public boolean debug() {
        return peerTimeouts.debug;
    }

    /** Returns a new factory of I/O handlers, for the background loop and for polled loops. */
    public IoHandlerFactory handlers() {
        return epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }

    /** Returns the class of connections. */
    public Class<? extends SocketChannel> channel() {
        return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** Returns the class of listening sockets. */
    public Class<? extends ServerSocketChannel> serverChannel() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /**
     * Sets the options of a data link: no delay, quick acknowledgements, and the configured congestion control. If
     * {@code auto} selects reno and the system refuses reno, the link keeps the system's algorithm.
     *
     * @throws ChannelException if the channel does not accept one of the other options
     */
    public void dataOptions(Channel channel) {
        channel.config().setOption(ChannelOption.TCP_NODELAY, true);
        if (!epoll) {
            return;
        }
        channel.config().setOption(EpollChannelOption.TCP_QUICKACK, true);
        if (!congestion.equals(AUTO)) {
            if (!congestion.equals(SYSTEM)) {
                congestion(channel, congestion);
            }
            return;
        }
        if (loopback(channel)) {
            try {
                congestion(channel, "reno");
            } catch (ChannelException absent) {
                System.getLogger("ferro.tcp")
                        .log(Level.DEBUG, "the system's congestion control stays on " + channel, absent);
            }
        }
    }

    /**
     * Makes the kernel probe a connection while it is idle, so that no firewall between hosts drops the connection. NIO
     * cannot set the idle time, so with NIO the system's setting applies.
     */
    void keepAlive(Channel channel) {
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        if (epoll) {
            channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, KEEP_IDLE_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPINTVL, KEEP_IDLE_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPCNT, KEEP_ASKED_MOST);
        }
    }

    /**
     * Limits the time between two retransmissions of the kernel, for a connection that carries heartbeats. Without the
     * limit, this time doubles until data is acknowledged. After a repair of the network, peers would then stay silent
     * for as long as the network was broken. The method has no effect with NIO and before Linux 6.15. The method also
     * has no effect with {@code ferro.debug}, because with the limit the kernel ends a connection whose peer reads
     * nothing for half an hour.
     */
    void limitBackoff(Channel channel) {
        if (peerTimeouts.debug || !(channel instanceof EpollSocketChannel)) {
            return;
        }
        ByteBuffer millis = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());
        millis.putInt(0, LONGEST_BACKOFF_MILLIS);
        try {
            channel.config()
                    .setOption(
                            new RawUnixChannelOption("TCP_RTO_MAX_MS", IPPROTO_TCP, TCP_RTO_MAX_MS, Integer.BYTES),
                            millis);
            // sets a long time limit instead, because the kernel otherwise ends the connection after a number of
            // retransmissions, which are more frequent now
            channel.config()
                    .setOption(EpollChannelOption.TCP_USER_TIMEOUT, KEEP_IDLE_SECONDS * KEEP_ASKED_MOST * 1_000);
        } catch (ChannelException absent) {
            System.getLogger("ferro.tcp").log(Level.DEBUG, "the backoff stays unlimited on " + channel, absent);
        }
    }

    /** Returns whether both ends of a channel are on this host and use its loopback address. */
    static boolean loopback(Channel channel) {
        return channel.remoteAddress() instanceof java.net.InetSocketAddress peer
                && peer.getAddress() != null
                && peer.getAddress().isLoopbackAddress();
    }

    private static void congestion(Channel channel, String name) {
        ByteBuffer value = ByteBuffer.allocateDirect(CONGESTION_NAME_BYTES);
        value.put(name.getBytes(StandardCharsets.US_ASCII)).position(0);
        channel.config()
                .setOption(
                        new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, CONGESTION_NAME_BYTES),
                        value);
    }
}
