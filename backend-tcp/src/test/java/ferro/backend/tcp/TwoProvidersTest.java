package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Work;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.End;
import ferro.backend.tcp.net.TcpProxy.Fault;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Encrypted jobs some of whose ranks use the engines of the JDK and some those of OpenSSL; the last one stands behind the proxy. */
@Timeout(120)
@Tag("long")
class TwoProvidersTest implements NeedsOpenSsl {
    private static final List<String> PROVIDERS = List.of("jdk", "openssl", "openssl");

    private static TcpJob job(Map<String, String> more) {
        return new TcpJob(PROVIDERS.size(), Duration.ofSeconds(60), TcpJob.encrypted(more));
    }

    private static List<ProcessGroup> join(TcpJob job, TcpProxy proxy) {
        List<Map<String, String>> settings = new ArrayList<>();
        for (int rank = 0; rank < PROVIDERS.size(); rank++) {
            Map<String, String> own = new HashMap<>(rank == PROVIDERS.size() - 1 ? proxy.settings() : Map.of());
            own.put("ferro.tls.provider", PROVIDERS.get(rank));
            settings.add(own);
        }
        return job.joinAll("g", settings);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("sums are right in all sizes, also over connections that are made anew between calls")
    void sumsAreRightInAllSizesOverReplacedConnections(String io) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of("ferro.tcp.io", io))) {
            List<ProcessGroup> groups = join(job, proxy);
            for (int count : new int[] {1, 4_095, 100_003, 1_000_003}) {
                TcpJob.sum(groups, count);
                assertTrue(proxy.endIdleData(count == 1 ? End.CLOSED : End.RESET) > 0, "no connection to end");
                TcpJob.sum(groups, count);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("a connection whose key has encrypted enough is replaced in the midst of calls, and no number is lost")
    void aConnectionIsReplacedDuringCallsWhenItsKeyIsUsedUp(String io) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of("ferro.tcp.io", io, "ferro.tls.key.bytes", "1MiB"))) {
            List<ProcessGroup> groups = join(job, proxy);
            TcpJob.sum(groups, 1);
            int before = proxy.allDataConnections();
            for (int count : new int[] {30_001, 3, 300_007, 1, 1_000_003, 30_001}) {
                TcpJob.sum(groups, count);
            }
            messages(groups);
            assertTrue(
                    proxy.allDataConnections() > before + 8,
                    "only " + (proxy.allDataConnections() - before) + " connections were made anew");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("a connection is replaced while the other side has not asked for what came by it")
    void aConnectionIsReplacedWhileReceivedDataIsUnread(String io) throws IOException {
        Map<String, String> settings =
                Map.of("ferro.tcp.io", io, "ferro.tls.key.bytes", "1MiB", "ferro.algorithm", "reduceScatter=linear");
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(settings)) {
            List<ProcessGroup> groups = join(job, proxy);
            int before = proxy.allDataConnections();
            for (int round = 0; round < 20; round++) {
                // rank 2 asks for what rank 1 has sent only when that of rank 0 has come
                CompletableFuture<Void> first = Threads.start(() -> IdleLinkTest.part(groups.get(1), 70_001));
                pause();
                CompletableFuture<Void> second = Threads.start(() -> IdleLinkTest.part(groups.get(2), 70_001));
                pause();
                IdleLinkTest.part(groups.get(0), 70_001);
                Ranks.result(first);
                Ranks.result(second);
            }
            assertTrue(proxy.allDataConnections() > before + 4, "no connection was replaced");
        }
    }

    /** So that what was said goes as far as it can. */
    private static void pause() {
        try {
            Thread.sleep(30);
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted between two calls", interrupted);
        }
    }

    /** Every rank sends to the next one, ahead of what that one receives. */
    private static void messages(List<ProcessGroup> groups) {
        TcpJob.runOnAll(groups, group -> {
            int right = (group.rank() + 1) % group.worldSize();
            int left = (group.rank() + group.worldSize() - 1) % group.worldSize();
            for (int round = 0; round < 20; round++) {
                List<Work> sent = new ArrayList<>();
                for (int part = 0; part < 4; part++) {
                    float[] own = new float[10_000];
                    Arrays.fill(own, 1000 * round + 10 * part + group.rank());
                    sent.add(group.sendAsync(HostTensor.of(own), right, 0));
                }
                for (int part = 0; part < 4; part++) {
                    float[] came = new float[10_000];
                    group.recv(came, left, 0);
                    assertEquals(1000 * round + 10 * part + left, came[9_999]);
                }
                sent.forEach(Work::await);
            }
        });
    }

    @Test
    void aChangedBitInDataFailsAllRanksWithProtocol() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of())) {
            List<ProcessGroup> groups = join(job, proxy);
            proxy.onData(Fault.flip(100_003));

            TcpJob.assertFail(groups, Code.PROTOCOL, group -> TcpJob.sumUntilItFails(group, 20_000));
        }
    }
}
