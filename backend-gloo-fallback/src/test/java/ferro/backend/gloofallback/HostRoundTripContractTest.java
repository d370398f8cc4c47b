package ferro.backend.gloofallback;

import ferro.Backend;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;

/** {@code -Dferro.backend=gloo-fallback} over TCP on loopback: every rank joins as a process of its own would. */
@Tag("long")
class HostRoundTripContractTest extends RoundTripContract {
    HostRoundTripContractTest() {
        super("16KiB");
    }

    /** All other rules have host tensors, which TCP takes as without a round trip. */
    @Override
    protected boolean runs(int rule) {
        return ON_DEVICES.contains(rule);
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return join(Collections.nCopies(worldSize, Map.of()));
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.of(join(settingsByRank));
    }

    private List<? extends Backend> join(List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        List<CompletableFuture<Backend>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = context(settings(server, settingsByRank.get(rank)));
            GroupSpec spec = GroupSpec.of("world", rank, worldSize, Duration.ofSeconds(60));
            joining.add(OnThread.start(() -> Groups.join(spec, context).backend()));
        }
        return joining.stream().map(OnThread::result).toList();
    }

    private static Map<String, String> settings(TcpStoreServer server, Map<String, String> own) {
        Map<String, String> settings = new HashMap<>(own);
        settings.put("ferro.backend", "gloo-fallback");
        settings.put("ferro.fallback.host", "tcp");
        settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
        settings.put("FERRO_STORE_SERVED", "1");
        return settings;
    }
}
