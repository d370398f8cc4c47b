package ferro.harness;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for what must know one beforehand. */
public final class Ports {
    private static final int MAX_ATTEMPTS = 100;
    /** Below Linux's ip_local_port_range, above those of many services. */
    private static final int LOWEST = 20_000;

    private static final int HIGHEST = 32_000;

    private Ports() {}

    /** A port that was free a moment ago; none of those that the system gives away by itself, to tests that run beside. */
    public static int free() throws IOException {
        IOException last = null;
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            try (ServerSocket probe = new ServerSocket()) {
                probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException taken) {
                last = taken;
            }
        }
        throw new IOException("no free port in " + MAX_ATTEMPTS + " attempts", last);
    }
}
