package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.HostileSessions;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Thousands of sessions, each cut off, changed or said slowly, at the ports of a job whose ranks go on adding up. */
class HostileSessionsTest {
    private static final int RANKS = 4;
    /** Beside a twentieth: what one join holds that is still being closed. */
    private static final long SLACK_KIB = 4096;

    private static final Duration JOIN_BOUND = Duration.ofSeconds(2);

    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"off", "on"})
    @Timeout(300)
    void aThousandHostileSessionsFailNoRankAndLeakNoMemory(String tls) throws Exception {
        besideSessions(1_000, tls);
    }

    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"off", "on"})
    @Tag("long")
    @Timeout(900)
    void tenThousandHostileSessionsFailNoRankAndLeakNoMemory(String tls) throws Exception {
        besideSessions(10_000, tls);
    }

    /** Says half as many sessions before memory is looked at for the first time, and then so many. */
    private static void besideSessions(int count, String tls) throws Exception {
        List<Map<String, String>> settings = new ArrayList<>();
        int[] ports = new int[RANKS + 1];
        for (int rank = 0; rank < RANKS; rank++) {
            ports[rank] = Sockets.freePort();
            settings.add(Map.of("ferro.tcp.port", "" + ports[rank], "ferro.links", "tcp", "ferro.tls", tls));
        }
        Map<String, String> common = TcpJob.encrypted(Map.of());
        List<byte[]> sessions = recorded(common, tls);
        AtomicBoolean over = new AtomicBoolean();
        try (TcpJob job = new TcpJob(RANKS, Duration.ofSeconds(60), common)) {
            ports[RANKS] = job.store.port();
            List<ProcessGroup> ranks = job.joinAll("world", settings);
            List<CompletableFuture<Long>> adding = TcpJob.startOnAll(ranks, group -> sumUntil(over, group));
            try (HostileSessions hostile = new HostileSessions(sessions, ports)) {
                joinsBeside(hostile, count / 2, job, tls);
                long before = heldKib();
                int joins = joinsBeside(hostile, count, job, tls);
                long after = heldKib();
                over.set(true);

                assertTrue(joins > 0, "a join beside them");
                assertEquals(count / 2 + count, hostile.count(), "sessions");
                for (int port : ports) {
                    new Socket(InetAddress.getLoopbackAddress(), port).close(); // the listener still runs
                }
                assertTrue(
                        after <= before + before / 20 + SLACK_KIB,
                        "memory grew from " + before + " to " + after + " KiB");
            }
            for (CompletableFuture<Long> sums : adding) {
                assertTrue(Ranks.result(sums) > 0, "sums beside them");
            }
            ranks.forEach(group -> assertTrue(group.failure().isEmpty(), "rank " + group.rank()));
        }
    }

    /** What the ranks of a job like the one under attack say to one of them: its own secret, and bytes of its calls. */
    private static List<byte[]> recorded(Map<String, String> common, String tls) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(60), common)) {
            List<byte[]> said = HostileSessions.recording(proxy);
            Map<String, String> both = Map.of("ferro.links", "tcp", "ferro.tls", tls);
            Map<String, String> behind = new HashMap<>(both);
            behind.putAll(proxy.settings());
            List<ProcessGroup> ranks = job.joinAll("world", List.of(both, behind));
            AtomicBoolean over = new AtomicBoolean(true);
            TcpJob.onAll(ranks, group -> sumUntil(over, group));
            assertTrue(said.size() >= 2, "sessions that were heard: " + said.size());
            return HostileSessions.withStore(said);
        }
    }

    /** Joins under other names, all ranks anew, while so many sessions go on; returns how often. */
    private static int joinsBeside(HostileSessions hostile, int count, TcpJob job, String tls) throws Exception {
        int first = hostile.count();
        CompletableFuture<Void> end = Threads.start(() -> {
            hostile.run(count);
            return null;
        });
        List<Long> took = new ArrayList<>();
        Map<String, String> own = Map.of("ferro.links", "tcp", "ferro.tls", tls);
        while (!end.isDone()) {
            long begun = System.nanoTime();
            job.joinAndLeave("beside" + first + "." + took.size(), own);
            took.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
        }
        end.get(1, TimeUnit.SECONDS);
        Collections.sort(took);
        // a machine that does something else makes some of them late
        assertTrue(
                took.isEmpty() || took.get(took.size() / 2) < JOIN_BOUND.toMillis(),
                () -> "joins of four, and their leaving, took " + took + " ms");
        return took.size();
    }

    /** Adds up until told; at least once. All ranks end at the same sum, because each gives its wish to end with it. */
    private static long sumUntil(AtomicBoolean over, ProcessGroup group) {
        long sums = 0;
        float[] data;
        do {
            data = new float[] {group.rank() + 1, over.get() ? 1 : 0, 0};
            group.allReduce(data, ReduceOp.SUM);
            assertEquals(group.worldSize() * (group.worldSize() + 1) / 2f, data[0], "sum " + sums);
            sums++;
        } while (data[1] == 0);
        return sums;
    }

    /** What is reachable on the heap, and what Netty holds outside of it. Resident memory also holds what a heap may use again. */
    private static long heldKib() {
        for (int collection = 0; collection < 3; collection++) {
            System.gc();
        }
        long bytes = Runtime.getRuntime().totalMemory()
                - Runtime.getRuntime().freeMemory()
                + PlatformDependent.usedDirectMemory();
        return bytes >> 10;
    }
}
