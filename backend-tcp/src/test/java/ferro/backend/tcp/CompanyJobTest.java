package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Authority;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs whose ranks have certificates of a company, over real sockets. */
@Timeout(120)
class CompanyJobTest {
    private static final int RANKS = 3;
    private static final String TRAIN = "spiffe://cluster/ns/lab/sa/train";
    private static final Authority OURS = new Authority("ours");

    @TempDir
    private Path folder;

    private static TcpJob job() {
        return new TcpJob(RANKS, Duration.ofSeconds(60), TcpJob.encrypted(Map.of("ferro.join.timeout", "60s")));
    }

    private Map<String, String> rank(int rank) {
        return with(OURS.settings(folder.resolve("rank" + rank), OURS.leaf(TRAIN)), "ferro.tls.name", TRAIN);
    }

    private static Map<String, String> with(Map<String, String> settings, String name, String value) {
        Map<String, String> all = new HashMap<>(settings);
        all.put(name, value);
        return all;
    }

    private List<Map<String, String>> all() {
        return IntStream.range(0, RANKS).mapToObj(this::rank).toList();
    }

    /** Has all ranks join, one of them with other settings, and returns how rank 0 fails, which connects to the others. */
    private FerroException refused(TcpJob job, int odd, Map<String, String> settings) {
        CompletableFuture<ProcessGroup> first = null;
        for (int rank = RANKS - 1; rank >= 0; rank--) {
            first = job.joining("g", rank, job.context(rank == odd ? settings : rank(rank)));
        }
        FerroException failure = Ranks.failure(first);
        assertEquals(Code.UNAUTHENTICATED, failure.code(), failure.getMessage());
        return failure;
    }

    /** Joins alone, with settings that must be refused before anything moves. */
    private static String refusedAlone(Map<String, String> settings) throws IOException {
        try (TcpJob job = job();
                ServerSocket store = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Map<String, String> own = with(settings, "ferro.rendezvous", "tcp://127.0.0.1:" + store.getLocalPort());
            FerroException failure = Ranks.failure(job.joining("g", 1, job.context(own)));
            assertEquals(Code.UNAUTHENTICATED, failure.code(), failure.getMessage());
            store.setSoTimeout(1);
            assertThrows(SocketTimeoutException.class, store::accept, "it has called the store");
            return failure.getMessage();
        }
    }

    @Test
    @DisplayName("ranks with certificates of one company join and sum")
    void ranksWithCertificatesOfOneAuthorityJoinAndSum() {
        try (TcpJob job = job()) {
            TcpJob.sum(job.joinAll("g", all()), 100_003);
        }
    }

    @Test
    void aRankWithoutACertificateIsRefusedDespiteTheSecret() {
        try (TcpJob job = job()) {
            String text = refused(job, 2, Map.of()).getMessage();
            assertTrue(text.contains("cannot connect to rank 2 of \"g\""), text);
            assertTrue(text.contains("certificate [ferro://default/rank/2]") && text.contains("is not trusted"), text);
        }
        try (TcpJob job = job()) {
            String text = refused(job, 0, Map.of()).getMessage();
            assertTrue(text.contains("the other side refused the key"), text);
        }
    }

    @Test
    void aCertificateWithAnotherNameIsRefused() {
        String other = "spiffe://cluster/ns/lab/sa/score";
        Map<String, String> score = OURS.settings(folder.resolve("score"), OURS.leaf(other));
        try (TcpJob job = job()) {
            String text = refused(job, 1, score).getMessage();
            assertTrue(text.contains("[" + other + "]: need a name that matches " + TRAIN), text);
        }
    }

    @Test
    @DisplayName(
            "a certificate that has expired ends new joins with its file and dates, and no connection that is open")
    void anExpiredCertificateFailsOnlyNewJoins() {
        try (TcpJob job = job()) {
            List<ProcessGroup> groups = job.joinAll("g", all());
            TcpJob.sum(groups, 1_001);
            OURS.settings(folder.resolve("rank1"), OURS.expired(TRAIN));
            TcpJob.sum(groups, 1_001);

            Map<String, String> late = OURS.settings(folder.resolve("late"), OURS.expired(TRAIN));
            FerroException failure = Ranks.failure(job.joining("h", 1, job.context(late)));
            Ranks.assertSays(
                    failure,
                    Code.UNAUTHENTICATED,
                    late.get("ferro.tls.certificate"),
                    "replace the file with a renewed certificate");
        }
    }

    @Test
    @DisplayName("ranks whose certificates were renewed, by another authority too, are joined by one that starts later")
    void aLaterRankJoinsRanksWithRenewedCertificates() {
        try (TcpJob job = job()) {
            List<SystemContext> contexts =
                    new ArrayList<>(all().stream().map(job::context).toList());
            List<ProcessGroup> before = job.joined("g", contexts);
            TcpJob.sum(before, 1_001);

            Authority next = new Authority("next");
            for (int rank = 0; rank < RANKS; rank++) {
                next.settings(folder.resolve("rank" + rank), next.leaf(TRAIN));
            }
            contexts.set(2, job.context(next.settings(folder.resolve("fresh"), next.leaf(TRAIN))));
            TcpJob.sum(job.joined("h", contexts), 1_001);
            TcpJob.sum(before, 1_001);
        }
    }

    @Test
    void contradictoryTlsSettingsAreRefusedBeforeAnythingIsSent() throws Exception {
        Map<String, String> whole = rank(1);
        Map<String, String> half = new HashMap<>(whole);
        half.remove("ferro.tls.key");
        half.remove("ferro.tls.name");
        String text = refusedAlone(half);
        assertTrue(text.contains("ferro.tls.certificate, ferro.tls.trust without ferro.tls.key: set all of"), text);

        text = refusedAlone(Map.of("ferro.tls.name", TRAIN));
        assertTrue(text.contains("ferro.tls.name without ferro.tls.certificate, ferro.tls.key, ferro.tls.trust"), text);

        Path missing = folder.resolve("missing.pem");
        text = refusedAlone(with(whole, "ferro.tls.trust", missing.toString()));
        assertTrue(text.contains(missing + " cannot be read"), text);

        Path other = Files.copy(Path.of(rank(2).get("ferro.tls.key")), folder.resolve("other.pem"));
        text = refusedAlone(with(whole, "ferro.tls.key", other.toString()));
        assertTrue(text.contains(other + " is not the key of the first certificate of"), text);
    }
}
