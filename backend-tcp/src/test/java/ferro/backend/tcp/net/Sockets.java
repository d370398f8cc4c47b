package ferro.backend.tcp.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

/** What the kernel says is listening; Linux only. */
public final class Sockets {
    private static final String LISTEN = "0A";
    private static final int MOST_ATTEMPTS = 100;
    /** Below Linux's ip_local_port_range, above most services. */
    private static final int LOWEST_PORT = 20_000;

    private static final int HIGHEST_PORT = 32_000;

    private Sockets() {}

    /**
     * A port that is free when looked at, for those that others must know beforehand; none of those that the system
     * gives away by itself, so that only another such test could take it.
     */
    public static int freePort() throws IOException {
        IOException last = null;
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException taken) {
                last = taken;
            }
        }
        throw new IOException("no free port in " + MOST_ATTEMPTS + " attempts", last);
    }

    /** Connects a channel that reads only what it is asked for. */
    public static Channel connected(
            SocketConfig io, BackgroundLoop loop, ServerSocket server, UnaryOperator<Bootstrap> more) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop.group())
                .channel(io.channel())
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.RECVBUF_ALLOCATOR, new SwitchableReadAllocator(ExactReader.nothing()))
                .handler(new ChannelInboundHandlerAdapter());
        return more.apply(bootstrap)
                .connect(server.getLocalSocketAddress())
                .syncUninterruptibly()
                .channel();
    }

    /** The addresses that a port is listened on. */
    public static List<String> listening(int port) throws IOException {
        List<String> found = new ArrayList<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.trim().split("\\s+");
                if (fields.length > 3 && fields[3].equals(LISTEN) && port(fields[1]) == port) {
                    found.add(address(fields[1]));
                }
            }
        }
        return found;
    }

    private static int port(String field) {
        return Integer.parseInt(field.substring(field.indexOf(':') + 1), 16);
    }

    /** The kernel writes words of four bytes, each the wrong way round on this machine. */
    private static String address(String field) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(field.substring(0, field.indexOf(':')));
        for (int word = 0; word < bytes.length; word += 4) {
            for (int i = 0; i < 2; i++) {
                byte swapped = bytes[word + i];
                bytes[word + i] = bytes[word + 3 - i];
                bytes[word + 3 - i] = swapped;
            }
        }
        return InetAddress.getByAddress(bytes).getHostAddress();
    }
}
