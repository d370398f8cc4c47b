package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import ferro.harness.HeardLog;
import ferro.harness.OnThread;
import ferro.spi.GroupSpec;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.logging.Level;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A job says once what its ranks share, however many groups it joins. */
@ResourceLock("ferro.group")
class JobLinesTest {
    private static final int RANKS = 2;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @AutoClose
    final HeardLog heard = new HeardLog("ferro.group", HeardLog.only(Level.INFO));

    @Test
    void theMediumIsLoggedOncePerJob() {
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), PortRange.of("0"), "job.0", RANKS, null)) {
            List<Future<Void>> ranks = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                JoinOptions options = JoinOptions.of(rank, RANKS)
                        .local(rank, RANKS)
                        .job("job", 0)
                        .storeAt(store.endpoint())
                        .setting("ferro.backend", "tcp");
                ranks.add(OnThread.run(() -> joinThree(options)));
            }
            ranks.forEach(OnThread::result);
        }
        assertEquals(List.of("group \"first\": all 2 ranks share memory"), heard.texts());
    }

    private static void joinThree(JoinOptions options) {
        try (SystemContext context = SystemContext.of(options)) {
            for (String name : List.of("first", "second", "third")) {
                GroupSpec spec =
                        GroupSpec.of(name, context.spec().rank(), context.spec().worldSize(), LIMIT);
                Groups.join(spec, context).close();
            }
        }
    }
}
