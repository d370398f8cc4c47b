package ferro.lightgbm;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.lightgbm.ffi.LightGbmFunctions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.StringJoiner;
import java.util.concurrent.ThreadLocalRandom;

/**
 * LightGBM's own sockets between the ranks of a group, to compare. A network of one rank connects nothing, so the sockets
 * can be connected in its place.
 */
public final class OwnSockets implements AutoCloseable {
    private static final int LOWEST_PORT = 20_000;
    private static final int HIGHEST_PORT = 32_000;
    private static final int ADDRESS_BYTES = 4;
    private static final int TIMEOUT_MINUTES = 1;

    private final ProcessGroup alone;
    private final LightGbmNetwork network;
    private final int worldSize;

    private OwnSockets(ProcessGroup alone, LightGbmNetwork network, int worldSize) {
        this.alone = alone;
        this.network = network;
        this.worldSize = worldSize;
    }

    /** Connects the ranks; LightGBM needs the IPv4 address of each rank. */
    public static OwnSockets connect(ProcessGroup group, InetAddress own) throws IOException {
        int[] ports = new int[group.worldSize()];
        int[] port = {freePort(own)};
        group.allGather(port, ports);
        byte[] addresses = new byte[ADDRESS_BYTES * group.worldSize()];
        group.allGather(own.getAddress(), addresses);
        StringJoiner machines = new StringJoiner(",");
        for (int rank = 0; rank < ports.length; rank++) {
            byte[] address = new byte[ADDRESS_BYTES];
            System.arraycopy(addresses, ADDRESS_BYTES * rank, address, 0, ADDRESS_BYTES);
            machines.add(InetAddress.getByAddress(address).getHostAddress() + ":" + ports[rank]);
        }
        ProcessGroup alone = ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
        LightGbmNetwork network = LightGbmNetwork.connect(alone);
        network.call(
                "sockets",
                () -> LightGbmFunctions.LGBM_NetworkInit(
                        machines.toString(), port[0], TIMEOUT_MINUTES, group.worldSize()));
        return new OwnSockets(alone, network, group.worldSize());
    }

    LightGbmDataset dataset(LightGbmRows rows, float[] labels, String parameters) {
        return LightGbmDataset.of(network, rows, labels, parameters + ranks());
    }

    LightGbmBooster booster(LightGbmDataset data, String parameters) {
        return LightGbmBooster.of(network, data, parameters + ranks());
    }

    private String ranks() {
        return " num_machines=" + worldSize;
    }

    @Override
    public void close() {
        network.close();
        alone.close();
    }

    /** Returns a port below the ports that the system assigns. */
    private static int freePort(InetAddress own) throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT);
            try (ServerSocket probe = new ServerSocket()) {
                probe.bind(new InetSocketAddress(own, port));
                return port;
            } catch (IOException taken) {
                // the next port may be free
                Thread.onSpinWait();
            }
        }
    }
}
