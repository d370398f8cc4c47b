package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.spi.PortRange;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * The ports at which a rank tries to listen, in order. Each rank of a host begins at a different port of the range.
 * Therefore two ranks try the same port only if another process uses a port of the range.
 *
 * @param range     configured range
 * @param localRank number of this rank on its host
 * @param spared    port of the store, which is tried last because the store may start later; 0 if no port is spared
 * @param servesStore whether only the store's port is tried, because this rank serves the store
 */
public record PortCandidates(PortRange range, int localRank, int spared, boolean servesStore) {
    private static final String SETTING = Settings.TCP_PORT.name();
    /**
     * How often to try a range. If two processes begin to listen on a free port within the same few microseconds, Linux
     * may refuse both.
     */
    private static final int ROUNDS = 4;

    private static final long LONGEST_PAUSE_NANOS = 10_000_000;

    /** Reads the setting {@code ferro.tcp.port}. A rank that serves the store listens on the store's port only. */
    public static PortCandidates of(RankContext context, int storePort, boolean servesStore) {
        PortRange asked = Settings.TCP_PORT.of(context);
        return servesStore
                ? new PortCandidates(new PortRange(storePort, storePort), 0, 0, true)
                : new PortCandidates(asked, Settings.LOCAL_RANK.find(context).orElse(0), storePort, false);
    }

    /** Returns the ports in the order in which this rank tries them; only 0 if any port is acceptable. */
    public int[] ports() {
        int size = range.size();
        int begin = Math.floorMod(localRank, size);
        int[] ports = new int[size];
        int next = 0;
        for (int at = 0; at < size; at++) {
            int port = range.first() + (begin + at) % size;
            if (port != spared || size == 1) {
                ports[next++] = port;
            }
        }
        if (next < size) {
            ports[next] = spared;
        }
        return ports;
    }

    /**
     * Binds the first free port. Tries a range of several ports several times, with random pauses in between.
     *
     * @throws IOException the last error, if other processes use all ports
     */
    public InetSocketAddress firstFree(PortBinder binding) throws IOException {
        int[] ports = ports();
        IOException last = null;
        for (int round = 0; round < (ports.length == 1 ? 1 : ROUNDS); round++) {
            if (round > 0) {
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_NANOS));
            }
            for (int port : ports) {
                try {
                    return binding.bind(port);
                } catch (IOException taken) {
                    last = taken;
                }
            }
        }
        throw last;
    }

    /** An operation that binds one port. */
    @FunctionalInterface
    public interface PortBinder {
        /** Binds a port and returns the bound address; throws IOException if another process uses the port. */
        InetSocketAddress bind(int port) throws IOException;
    }

    /**
     * Returns a refusal that says why no port could be bound, and which processes use the ports, as far as they are
     * visible.
     */
    public Refusal noneFree(InetAddress address, IOException cause) {
        int[] ports = ports();
        if (AddressLookup.isElsewhere(address)) {
            return new Refusal(
                    Code.RENDEZVOUS,
                    TcpListener.notBound(new InetSocketAddress(address, ports[0]), cause)
                                    .getMessage()
                            + "; if it leads to this machine from elsewhere, such as the address of a service, set "
                            + Settings.TCP_BIND.name() + "=0.0.0.0 for this rank");
        }
        if (range.size() == 1) {
            Refusal last = TcpListener.notBound(new InetSocketAddress(address, ports[0]), cause);
            return range.any() || servesStore ? last : new Refusal(Code.RENDEZVOUS, last.getMessage() + advice());
        }
        String holders = PortHolderFinder.of(address, ports);
        return new Refusal(
                Code.RENDEZVOUS,
                "cannot listen on " + address.getHostAddress() + " at any of the " + range.size() + " ports of "
                        + SETTING
                        + "=" + range + ": "
                        + (holders.isEmpty() ? "the last error is " + cause.getMessage() : "held " + holders)
                        + advice());
    }

    private String advice() {
        return "; " + SETTING + " needs a free port for each rank of a host"
                + (range.size() == 1 ? ": a range, such as " + range.first() + "-" + (range.first() + 15) : "");
    }
}
