package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.KeyRelay;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.Fault;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs whose connections are all encrypted; the highest rank stands behind the proxy. */
@Timeout(120)
class EncryptedJobTest {
    private static final int RANKS = 3;
    private static final int COUNT = 20_000;
    private static final float TOLD = 1234.5678f;

    private static TcpJob job(Map<String, String> settings) {
        return new TcpJob(RANKS, Duration.ofSeconds(60), settings);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void sumsAndMessagesAreRightInAllSizes(String io) {
        try (TcpJob job = job(TcpJob.encrypted(Map.of("ferro.tcp.io", io)))) {
            List<ProcessGroup> groups = job.joinAll("g");
            for (int count : new int[] {1, 3, 4_091, 16_381, 100_003, 3_000_001}) {
                TcpJob.sum(groups, count);
            }
            TcpJob.onAll(groups, group -> group.newGroup(0, 1, 2));
            assertEquals("TCP (loopback) with TLS", groups.get(0).medium().text());
            for (ProcessGroup group : groups) {
                String report = group.linkReport();
                assertTrue(report.startsWith("data: over TCP (loopback) with TLS; ranks 0-1, "), report);
            }
        }
    }

    @Test
    @DisplayName("who reads the network finds no tensor, no call and no secret")
    void encryptedTrafficShowsNoTensorCallOrSecret() throws IOException {
        for (boolean encrypted : new boolean[] {false, true}) {
            Wiretap heard = new Wiretap();
            Map<String, String> settings = TcpJob.encrypted(Map.of());
            settings.put("ferro.tls", encrypted ? "on" : "off");
            try (TcpProxy proxy = new TcpProxy();
                    TcpJob job = job(settings)) {
                proxy.onData(heard);
                proxy.onControl(heard);
                List<ProcessGroup> groups = job.joinBehind(proxy);
                TcpJob.onAll(groups, group -> {
                    float[] tensor = new float[COUNT];
                    Arrays.fill(tensor, group.rank() == 0 ? TOLD : 0);
                    group.broadcast(tensor, 0);
                    assertEquals(TOLD, tensor[COUNT - 1]);
                    return null;
                });
            }
            ByteBuffer element = ByteBuffer.allocate(4 * Float.BYTES).order(ByteOrder.nativeOrder());
            for (int i = 0; i < 4; i++) {
                element.putFloat(TOLD);
            }

            assertEquals(!encrypted, heard.hears(element.array()), "the tensor");
            // a plain job sends its call only if a rank asks for it, so only the tensor shows that this tap reads bytes
            assertFalse(encrypted && heard.hears("broadcast".getBytes(StandardCharsets.US_ASCII)), "its call");
            assertFalse(heard.hears("0123456789abcdef".getBytes(StandardCharsets.US_ASCII)), "the secret");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000_003, 70_001})
    @DisplayName("a bit that is changed in data is PROTOCOL on all ranks, and no number of it gets out")
    void aChangedBitInDataFailsAllRanksWithProtocol(long place) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of()))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            proxy.onData(Fault.flip(place));

            TcpJob.assertFail(
                    groups, Code.PROTOCOL, group -> TcpJob.sumUntilItFails(group, 100_003), "TLS record", "rank 2");
            TcpJob.assertNobodyIsLost(groups);
        }
    }

    @Test
    @DisplayName("a bit that is changed in a control message is PROTOCOL on all ranks")
    void aChangedBitInAControlMessageFailsAllRanksWithProtocol() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of()))) {
            // far behind the handshakes, among the messages of the groups that are made below; behind the head of a
            // record
            proxy.onControl(Fault.flipInMessage(3_000, 8));
            List<ProcessGroup> groups = job.joinBehind(proxy);

            TcpJob.assertFail(groups, Code.PROTOCOL, group -> BrokenNetworkTest.makeGroups(group, 1_000));
            TcpJob.assertNobodyIsLost(groups);
        }
    }

    /** The receiver waits for 4 KiB that nobody sends, and cannot tell this from silence. */
    @Tag("long")
    @Test
    @DisplayName("a bit that is changed in the length of a record is PARTITION after ferro.heartbeat.limit")
    void aLongerRecordOfTlsIsPartitionAfterTheHeartbeatLimit() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of("ferro.heartbeat.limit", "6s")))) {
            proxy.onControl(Fault.flipInMessage(3_000, 3));
            List<ProcessGroup> groups = job.joinBehind(proxy);

            TcpJob.assertFail(
                    groups, Code.PARTITION, group -> BrokenNetworkTest.makeGroups(group, 1_000), "nothing heard from");
        }
    }

    @Test
    @DisplayName("a bit that is changed in a handshake never lets a rank in")
    void aBitThatIsChangedInAHandshakeNeverAdmitsARank() {
        // their ranks wait for the deadline of the join, all at once
        Stream.of(20L, 100L, 200L, 500L, 700L)
                .map(place -> Threads.start(() -> {
                    joinWithAChangedBit(place);
                    return place;
                }))
                .toList()
                .forEach(Ranks::result);
    }

    private static void joinWithAChangedBit(long place) {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of("ferro.join.timeout", "3s")))) {
            proxy.onControl(Fault.flip(place));
            job.joiningBehind(proxy).forEach(Ranks::failure);
        } catch (IOException unable) {
            throw new UncheckedIOException(unable);
        }
    }

    /** In the first message of TLS, and in the answer to the other side's. */
    @ParameterizedTest
    @ValueSource(longs = {200, 500})
    @DisplayName("a bit that is changed in one TLS handshake costs another attempt")
    void aBitThatIsChangedInATlsHandshakeIsRepairedByAnotherAttempt(long place) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of()))) {
            AtomicBoolean changed = new AtomicBoolean();
            Fault flip = Fault.flip(place);
            proxy.onControl((from, bytes, length) -> {
                boolean hit = place >= from && place < from + length;
                return !hit || !changed.compareAndSet(false, true) || flip.on(from, bytes, length);
            });

            List<ProcessGroup> groups = job.joinBehind(proxy);

            assertTrue(changed.get(), "byte " + place + " did not pass");
            TcpJob.sum(groups, 1_001);
        }
    }

    @Test
    void aConnectionThatIsResetInTheMiddleNeverGivesAShortResult() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = job(TcpJob.encrypted(Map.of()))) {
            List<ProcessGroup> groups = job.joinBehind(proxy);
            proxy.onData(Fault.reset(1_000_003));

            TcpJob.assertFail(groups, Code.PARTITION, group -> TcpJob.sumUntilItFails(group, 100_003));
        }
    }

    @Test
    void aRankWithoutTlsIsRefusedByAnEncryptedJob() {
        for (int plain = 0; plain < 2; plain++) {
            Map<String, String> settings = TcpJob.encrypted(Map.of());
            // longer than the test waits for a rank: neither of them ends by its deadline
            try (TcpJob job = new TcpJob(2, Duration.ofMinutes(2), settings)) {
                List<SystemContext> contexts = new ArrayList<>(List.of(job.context()));
                contexts.add(plain, job.context(Map.of("ferro.tls", "off")));

                for (CompletableFuture<ProcessGroup> one : job.joining("g", contexts)) {
                    Ranks.assertSays(Ranks.failure(one), Code.RENDEZVOUS, "give all ranks the same ferro.tls");
                }
            }
        }
    }

    @Test
    @DisplayName("a relay that passes the proofs on and encrypts with keys of its own lets no rank in")
    void aRelayWithItsOwnKeysCannotConnectARank() throws IOException {
        try (KeyRelay relay = new KeyRelay();
                TcpJob job = job(TcpJob.encrypted(Map.of()))) {
            SystemContext behind = job.context(relay.settings());
            List<CompletableFuture<ProcessGroup>> joining =
                    job.joining("g", List.of(job.context(), job.context(), behind));

            Ranks.assertSays(Ranks.failure(joining.get(0)), Code.UNAUTHENTICATED, "another process is between the two");
            Ranks.failure(joining.get(1));
            // nobody dials it any more: it would wait until its time is over
            behind.close();
            Ranks.failure(joining.get(2));
            assertTrue(relay.relayed() > 0, "no proof has passed");
            assertEquals(0, relay.letIn());
        }
    }

    @Test
    void encryptionOfAllConnectionsNeedsASecret() {
        try (TcpJob job = new TcpJob(1, Duration.ofSeconds(60), Map.of("ferro.tls", "on"));
                TcpJob two = new TcpJob(2, Duration.ofSeconds(60), Map.of("ferro.tls", "on"))) {
            job.joinAll("alone");

            FerroException failure = Ranks.failure(two.joining("g", 0, two.context()));
            Ranks.assertSays(failure, Code.UNAUTHENTICATED, "FERRO_SECRET_FILE");
        }
    }

    /** Keeps what passes to the rank behind the proxy, and passes it on. */
    private static final class Wiretap implements Fault {
        private final ByteArrayOutputStream heard = new ByteArrayOutputStream();

        @Override
        public synchronized boolean on(long from, byte[] bytes, int length) {
            heard.write(bytes, 0, length);
            return true;
        }

        synchronized boolean hears(byte[] told) {
            return new String(heard.toByteArray(), StandardCharsets.ISO_8859_1)
                    .contains(new String(told, StandardCharsets.ISO_8859_1));
        }
    }
}
