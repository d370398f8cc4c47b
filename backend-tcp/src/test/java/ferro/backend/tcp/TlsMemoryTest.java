package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.End;
import ferro.backend.tcp.net.TcpProxy.Fault;
import ferro.backend.tcp.net.TlsSession;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What engines of OpenSSL hold outside the heap is freed with their connection, in whatever way that ends: no collector does it. */
@Timeout(120)
@Tag("long")
class TlsMemoryTest implements NeedsOpenSsl {
    private static final int RANKS = 3;

    /** Long enough for what earlier tests of this process have ended, and for a machine that does something else. */
    private static final long STILL_MILLIS = 250;

    private static int before;

    /** Counts what earlier tests have left for good: what they still free may hide nothing that the tests here leave. */
    @BeforeAll
    static void count() throws InterruptedException {
        int last;
        do {
            last = TlsSession.unfreed();
            Thread.sleep(STILL_MILLIS);
            before = TlsSession.unfreed();
        } while (before != last);
    }

    @AfterEach
    void allAreFreed() throws InterruptedException {
        proxy.close();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (TlsSession.unfreed() > before && System.nanoTime() - deadline < 0) {
            Thread.sleep(5);
        }
        int after = TlsSession.unfreed();
        assertTrue(after <= before, (after - before) + " sessions that were never closed");
    }

    private final TcpProxy proxy = new TcpProxy();

    TlsMemoryTest() throws IOException {}

    private void onJob(Map<String, String> more, Consumer<List<ProcessGroup>> task) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("ferro.tls.provider", "openssl");
        try (TcpJob job = new TcpJob(RANKS, Duration.ofSeconds(60), TcpJob.encrypted(settings))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            sum(groups);
            assertTrue(TlsSession.unfreed() > RANKS, "nothing is encrypted");
            task.accept(groups);
        }
    }

    private static void sum(List<ProcessGroup> groups) {
        TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, 10_000));
    }

    @Test
    void enginesAreFreedWhenAllRanksLeave() {
        onJob(Map.of(), groups -> {});
    }

    @Test
    void enginesAreFreedWhenSubgroupsAreMadeAndClosed() {
        onJob(Map.of(), groups -> {
            for (int round = 0; round < 3; round++) {
                List<ProcessGroup> parts = TcpJob.onAll(groups, group -> group.newGroup(0, 1, 2));
                sum(parts);
                TcpJob.runOnAll(parts, ProcessGroup::close);
            }
        });
    }

    @Test
    void enginesAreFreedWhenAGroupIsAborted() {
        onJob(Map.of(), groups -> groups.get(1).abort(new IllegalStateException("enough")));
    }

    @ParameterizedTest
    @EnumSource(names = {"CLOSED", "RESET"})
    void enginesAreFreedWhenIdleConnectionsAreReplaced(End how) {
        onJob(Map.of(), groups -> {
            for (int round = 0; round < 3; round++) {
                proxy.endIdleData(how);
                sum(groups);
            }
        });
    }

    @Test
    void enginesAreFreedWhenConnectionsChangeTheirKeys() {
        onJob(Map.of("ferro.tls.key.bytes", "1MiB"), groups -> {
            int first = proxy.allDataConnections();
            for (int round = 0; round < 100; round++) {
                sum(groups);
            }
            assertTrue(proxy.allDataConnections() > first + 2, "no connection was replaced");
        });
    }

    @Test
    void enginesAreFreedWhenABitIsChanged() {
        proxy.onData(Fault.flip(300_007));
        onJob(
                Map.of(),
                groups -> TcpJob.assertFail(groups, Code.PROTOCOL, group -> TcpJob.sumUntilItFails(group, 20_000)));
    }

    @Test
    void enginesAreFreedWhenAJoinFails() {
        try (TcpJob job =
                new TcpJob(2, Duration.ofSeconds(6), TcpJob.encrypted(Map.of("ferro.tls.provider", "openssl")))) {
            AtomicInteger cut = new AtomicInteger();
            proxy.onControl((from, bytes, length) -> from + length <= 400 || cut.incrementAndGet() == 0);
            for (CompletableFuture<ProcessGroup> one : job.joiningBehind(proxy)) {
                FerroException failure = Ranks.failure(one);
                assertTrue(failure.getMessage().contains("rank"), failure.getMessage());
            }
            assertTrue(cut.get() > 0, "no handshake was cut off");
        }
    }
}
