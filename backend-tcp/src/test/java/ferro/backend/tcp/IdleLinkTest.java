package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.End;
import ferro.backend.tcp.net.TcpProxy.Fault;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Data connections that end between two calls are made anew; the highest rank stands behind the proxy. */
@Tag("long")
@Timeout(120)
class IdleLinkTest {
    private static final int[] COUNTS = {1, 1_001, 100_003, 1_000_003};
    private static final int KILLS = 100;

    @ParameterizedTest
    @DisplayName("row 47: a connection that ends between calls is made anew, and sums are right")
    @CsvSource({
        "epoll, CLOSED, 2, 0",
        "epoll, RESET, 2, 0",
        "epoll, CLOSED, 2, 1",
        "epoll, CLOSED, 3, 0",
        "epoll, RESET, 3, 1",
        "epoll, CLOSED, 3, 1",
        "nio, CLOSED, 2, 0",
        "nio, RESET, 2, 1",
        "nio, CLOSED, 3, 0",
        "nio, RESET, 3, 0",
        "nio, CLOSED, 3, 1",
        "epoll, CLOSED, 3, tls",
        "epoll, RESET, 3, tls",
        "nio, CLOSED, 3, tls",
        "nio, RESET, 3, tls"
    })
    void callsContinueOverAReplacedConnection(String io, End how, int ranks, String checksum) throws IOException {
        Map<String, String> settings = checksum.equals("tls")
                ? TcpJob.encrypted(Map.of("ferro.tcp.io", io))
                : Map.of("ferro.tcp.io", io, "ferro.tcp.checksum", checksum);
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(ranks, Duration.ofSeconds(60), settings)) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            for (int count : COUNTS) {
                sum(groups, count);
                assertTrue(proxy.endIdleData(how) > 0, "no connection to end");
                sum(groups, count);
            }
            assertTrue(
                    groups.get(0).medium().text().startsWith("TCP"),
                    groups.get(0).medium().text());
        }
    }

    @ParameterizedTest
    @DisplayName("row 47: messages go on too, also where one side alone has seen the end")
    @CsvSource({
        "epoll, CLOSED, 0", "epoll, RESET, 1", "nio, CLOSED, 1", "nio, RESET, 0",
        "epoll, CLOSED_HERE, 0", "epoll, CLOSED_THERE, 1", "nio, CLOSED_HERE, 0", "nio, CLOSED_THERE, 1"
    })
    void messagesContinueEvenIfOnlyOneSideHasDetectedTheEnd(String io, End how, int first) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(60), Map.of("ferro.tcp.io", io))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            for (int call = 0; call < 10; call++) {
                TcpJob.onAll(groups, group -> pass(group, first));
                assertEquals(1, proxy.endIdleData(how));
            }
        }
    }

    @ParameterizedTest
    @DisplayName("row 47: what had come before the end is read first")
    @CsvSource({"epoll, CLOSED, 0", "epoll, RESET, 1", "nio, CLOSED, 1", "nio, RESET, 0"})
    void dataThatArrivedBeforeTheEndIsReadFirst(String io, End how, String checksum) throws IOException {
        Map<String, String> settings = Map.of("ferro.tcp.io", io, "ferro.tcp.checksum", checksum);
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(60), settings)) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            sum(groups, 3);
            long before = proxy.passed();
            float[] sent = new float[100];
            Arrays.fill(sent, 7);
            groups.get(0).broadcast(sent, 0);
            await(() -> proxy.passed() >= before + 4 * sent.length);
            proxy.endIdleData(how);
            CompletableFuture<Void> second = Threads.start(() -> {
                groups.get(0).broadcast(new float[] {5}, 0);
                return null;
            });
            await(() -> proxy.dataConnections() == 1);

            float[] first = new float[100];
            groups.get(1).broadcast(first, 0);
            float[] last = new float[1];
            groups.get(1).broadcast(last, 0);
            Ranks.result(second);
            assertArrayEquals(sent, first);
            assertEquals(5, last[0]);
            long then = proxy.passed();
            TcpJob.runOnAll(groups, group -> {
                float[] data = new float[20_000];
                Work all = group.broadcastAsync(new float[20_000], 0);
                Work.all(List.of(all, group.rank() == 0 ? group.sendAsync(data, 1, 3) : group.recvAsync(data, 0, 3)))
                        .await();
            });
            await(() -> proxy.passed() >= then + 2 * 20_000 * Float.BYTES);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @DisplayName("row 47: a hundred ends lose nothing")
    @CsvSource({"epoll", "nio"})
    void aHundredEndsOfConnectionsLoseNoData(String io) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                LinkEnds ends = new LinkEnds();
                TcpJob job = new TcpJob(3, Duration.ofSeconds(60), Map.of("ferro.tcp.io", io))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            for (int kill = 0; kill < KILLS; kill++) {
                sum(groups, 1 + 1_000 * (kill % 7));
                End how = End.values()[kill % 2];
                assertTrue(ends.add(proxy.endEachIdle(how), how) > 0, "no link to end in round " + kill);
            }
            // a link that the last sums had no need of is made anew by the next sum that has
            for (int size = 0; !ends.areAllReported() && size < KILLS; size++) {
                sum(groups, 1 + 1_000 * (size % 7));
            }

            ends.assertEachIsExplained();
        }
    }

    @Test
    void aConnectionThatEndsDuringATransferFailsAllRanks() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(60), Map.of())) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            proxy.onData(Fault.reset(50_000_003));

            for (FerroException failure : TcpJob.assertFail(
                    groups, Code.PARTITION, group -> TcpJob.sumUntilItFails(group, 3_000_001), "were in flight")) {
                Set<Integer> culprits = failure.where().culprits();
                assertTrue(!culprits.isEmpty() && Set.of(0, 1).containsAll(culprits), failure.getMessage());
            }
            await(() -> culprits(groups.get(0)).equals(culprits(groups.get(1))));
        }
    }

    @ParameterizedTest
    @DisplayName("row 47: what had come before the end is read first, also where this side sends first")
    @CsvSource({
        "CLOSED, 0, off, 1000",
        "RESET, 1, off, 1000",
        "CLOSED, 1, off, 5000",
        "RESET, 0, on, 1000",
        "CLOSED, 0, on, 5000"
    })
    void dataThatArrivedBeforeTheEndIsReadFirstIfThisSideSends(End how, String checksum, String tls, int count)
            throws Exception {
        assumeTrue(Epoll.isAvailable(), "without epoll an end is not seen behind bytes that were not read");
        Map<String, String> settings =
                Map.of("ferro.tcp.checksum", checksum, "ferro.algorithm", "reduceScatter=linear");
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(
                        3, Duration.ofSeconds(60), tls.equals("on") ? TcpJob.encrypted(settings) : settings)) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            TcpJob.onAll(groups, group -> part(group, count));
            long before = proxy.passed();

            // rank 2 asks for what rank 1 has sent only when that of rank 0 has come
            CompletableFuture<Void> sent = Threads.start(() -> part(groups.get(1), count));
            await(() -> proxy.passed() >= before + count * Float.BYTES);
            assertTrue(proxy.endIdleData(how) > 0, "no connection to end");
            CompletableFuture<Void> came = Threads.start(() -> part(groups.get(2), count));
            Threads.awaitInside(TcpTransport.class, "park", 2);
            part(groups.get(0), count);
            Ranks.result(sent);
            Ranks.result(came);
        }
    }

    /** So many elements for each rank, which are compared. */
    static Void part(ProcessGroup group, int count) {
        float[] all = new float[group.worldSize() * count];
        for (int i = 0; i < all.length; i++) {
            all[i] = i % 1_000 + group.rank();
        }
        float[] own = new float[count];
        group.reduceScatter(all, own, ReduceOp.SUM);
        for (int i = 0; i < count; i++) {
            int first = (group.rank() * count + i) % 1_000;
            assertEquals(3 * first + 3, own[i], "element " + i);
        }
        return null;
    }

    @Test
    @DisplayName("row 47: a connection that cannot be made anew is the failure of all, and says so")
    void aConnectionThatCannotBeReplacedFailsAllRanks() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(3), Map.of("ferro.join.timeout", "60s"))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group.within(Duration.ofSeconds(30)), 3, 3));
            proxy.refuse();
            proxy.endIdleData(End.CLOSED);

            TcpJob.assertFail(
                    groups,
                    Code.PARTITION,
                    group -> AbortBesideSiblingTest.sum(group.within(Duration.ofSeconds(30)), 1, 3),
                    "cannot reconnect",
                    "refused");
        }
    }

    @ParameterizedTest
    @DisplayName("row 47: a rank leaves while its connections end, and nobody is blamed")
    @CsvSource({"CLOSED", "RESET"})
    void aRankMayLeaveWhileItsConnectionsEnd(End how) throws IOException {
        for (int round = 0; round < 10; round++) {
            try (TcpProxy proxy = new TcpProxy();
                    TcpJob job = new TcpJob(3, Duration.ofSeconds(60), Map.of())) {
                List<ProcessGroup> groups = job.joinBehind(proxy);
                sum(groups, 1_001);
                TcpJob.onAll(groups.subList(1, 3), group -> pass(group, 1));
                proxy.endIdleData(how);
                CompletableFuture<Void> leaving = Threads.start(() -> {
                    groups.get(2).close();
                    return null;
                });
                proxy.endData(how);
                TcpJob.assertFail(
                        groups.subList(0, 2),
                        Code.PEER_LOST,
                        group -> AbortBesideSiblingTest.sum(group, 5, 9),
                        "rank 2 left group");
                groups.subList(0, 2).forEach(ProcessGroup::close);
                Ranks.result(leaving);
            }
        }
    }

    private static void sum(List<ProcessGroup> groups, int count) {
        TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, count, count));
    }

    private static Set<Integer> culprits(ProcessGroup group) {
        return group.failure().orElseThrow().where().culprits();
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not so within 60 s");
            Thread.onSpinWait();
        }
    }

    /** There and back, in the group or beside a third rank. */
    private static Void pass(ProcessGroup group, int first) {
        int other = group.worldSize() == 2 ? 1 - group.rank() : 3 - group.rank();
        int[] data = {17 + first};
        int[] back = new int[1];
        if (group.rank() == first) {
            group.send(data, other, 3);
            group.recv(back, other, 5);
        } else {
            group.recv(back, other, 3);
            group.send(data, other, 5);
        }
        assertEquals(data[0], back[0]);
        return null;
    }
}
