package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.End;
import ferro.backend.tcp.net.TcpProxy.Fault;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections that are cut, changed and slowed down on their way; rank 2 of 3 stands behind the proxy. */
@Timeout(120)
class BrokenNetworkTest {
    private static final int RANKS = 3;
    private static final Map<String, String> CHECKED = Map.of("ferro.tcp.checksum", "1");

    private static TcpJob job(Map<String, String> settings) {
        return new TcpJob(RANKS, Duration.ofSeconds(60), settings);
    }

    @Test
    @DisplayName(
            "row 12: a data connection that is reset in the middle fails all ranks with the pair, never a short result")
    void aDataConnectionThatIsResetInTheMiddleFailsAllRanks() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of())) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            proxy.onData(Fault.reset(1_000_003));

            for (FerroException failure : TcpJob.assertFail(
                    groups,
                    Code.PARTITION,
                    group -> TcpJob.sumUntilItFails(group, 100_003),
                    "the link broke, not the rank",
                    "their collective connection ended")) {
                String text = failure.getMessage();
                Set<Integer> culprits = failure.where().culprits();
                // one rank, or the last rank and one of the other two
                assertTrue(culprits.size() == 1 || culprits.size() == 2 && culprits.contains(2), text);
            }
        }
    }

    @Test
    @DisplayName("row 34: a bit that flips in data is PROTOCOL on all ranks, and no number of it gets out")
    void aFlippedBitInDataFailsAllRanksWithProtocol() throws IOException {
        for (int place : new int[] {1_000_003, 200}) {
            try (TcpProxy proxy = new TcpProxy();
                    TcpJob job = job(CHECKED)) {
                List<ProcessGroup> groups = job.joinBehind(proxy);
                proxy.onData(Fault.flip(place));

                TcpJob.assertFail(
                        groups, Code.PROTOCOL, group -> TcpJob.sumUntilItFails(group, 100_003), "rank 2", "checksum");
            }
        }
    }

    @Test
    @DisplayName("row 34: a bit that flips in a control message is PROTOCOL as well")
    void aFlippedBitInAControlMessageFailsAllRanksWithProtocol() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(CHECKED)) {
            // behind the handshake and READY: the first message of the group that is made below
            proxy.onControl(Fault.flipInMessage(240, 8));
            List<ProcessGroup> groups = job.joinBehind(proxy);

            TcpJob.assertFail(groups, Code.PROTOCOL, group -> makeGroups(group, 100), "checksum");
        }
    }

    static void makeGroups(ProcessGroup group, int count) {
        for (int i = 0; i < count; i++) {
            group.newGroup(0, 1, 2).close();
        }
    }

    /** The middle box closes or resets, and every process lives. */
    @ParameterizedTest
    @EnumSource(names = {"CLOSED", "RESET"})
    void aControlConnectionThatIsCutFailsTheGroupButLosesNoRank(End how) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of())) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, 100));

            assertEquals(RANKS - 1, proxy.endControl(how));

            TcpJob.assertFail(groups, Code.PEER_LOST, group -> TcpJob.sumUntilItFails(group, 100));
            TcpJob.assertNobodyIsLost(groups);
        }
    }

    @Test
    void aNewGroupWithoutItsConnectionFailsWithTheCauseOfItsParent() throws IOException {
        Map<String, String> soon = Map.of(
                "ferro.heartbeat.interval", "100ms", "ferro.heartbeat.suspect", "500ms", "ferro.heartbeat.limit", "2s");
        CountDownLatch cut = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(soon)) {
            proxy.onControl(Fault.ofRank(0, (from, bytes, length) -> cut.getCount() > 0 || awaited(over)));
            List<ProcessGroup> groups = job.joinBehind(proxy);
            cut.countDown();

            List<FerroException> failures = TcpJob.onAll(groups, group -> {
                FerroException failure =
                        TcpJob.failure(() -> AbortBesideSiblingTest.sum(group.newGroup(0, 1, 2), 3, 100));
                group.close();
                return failure;
            });

            over.countDown();
            for (FerroException failure : failures) {
                assertEquals(Code.PARTITION, failure.code(), failure.getMessage());
                assertEquals(Set.of(0), failure.where().culprits(), failure.getMessage());
                assertTrue(failure.getMessage().contains("nothing heard from rank 0"), failure.getMessage());
            }
        }
    }

    private static boolean awaited(CountDownLatch over) {
        try {
            return over.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException ended) {
            return false;
        }
    }

    /** 200 ms there and back: a job between continents. */
    @Test
    @DisplayName("row 11: a way of 200 ms there and back makes calls late, and nothing else")
    void aRoundTripOf200MillisOnlyDelaysCalls() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of())) {
            proxy.delay(Duration.ofMillis(100));
            List<ProcessGroup> groups = job.joinBehind(proxy);
            for (int count : new int[] {1, 16_381, 300_007}) {
                long begun = System.nanoTime();
                TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, count));
                long took = System.nanoTime() - begun;
                assertTrue(took > 100_000_000, () -> count + " elements took " + took + " ns over a long way");
            }
            TcpJob.onAll(groups, group -> group.newGroup(0, 1, 2));
        }
    }

    @Test
    @DisplayName("row 33: a link that is slow makes calls slow, and neither wrong nor late for control messages")
    void aSlowLinkOnlySlowsCalls() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(Map.of())) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            proxy.onData(Fault.slow(2 << 20));

            List<CompletableFuture<Void>> slow =
                    TcpJob.startOnAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, 1_000_003));
            TcpJob.onAll(groups, group -> group.newGroup(0, 1, 2));

            assertTrue(slow.stream().noneMatch(CompletableFuture::isDone), "subgroups waited for data");
            slow.forEach(Ranks::result);
        }
    }

    @Test
    void sumsWithChecksumsAreRightInAllSizes() {
        try (TcpJob job = job(CHECKED)) {
            List<ProcessGroup> groups = job.joinAll("g");
            for (int count : new int[] {1, 3, 16_381, 100_003, 3_000_001}) {
                TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, count, count));
            }
        }
    }

    @Test
    @DisplayName("row 34: checksums on one rank only are refused on all, both values shown")
    void checksumsOnOneRankOnlyAreRefusedOnAll() {
        try (TcpJob job = job(Map.of())) {
            List<SystemContext> contexts = List.of(job.context(), job.context(CHECKED), job.context());
            for (CompletableFuture<ProcessGroup> one : job.joining("g", contexts)) {
                Ranks.assertSays(Ranks.failure(one), Code.RENDEZVOUS, "rank 1", "the same ferro.tcp.checksum");
            }
        }
    }
}
