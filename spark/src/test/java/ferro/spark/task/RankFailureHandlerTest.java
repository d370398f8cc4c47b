package ferro.spark.task;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import ferro.spark.failure.RankFailure;
import ferro.spark.rendezvous.AttemptRendezvous;
import ferro.spark.rendezvous.DriverStoreClient;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the reports of a failing rank 0. A store receives the reports as the driver's store does. */
class RankFailureHandlerTest {
    private final TcpStoreServer server = TcpStoreServer.start(
            InetAddress.getLoopbackAddress(), PortRange.of("0"), JoinOptions.jobId("app", 0), 2, null);

    private final DriverStoreClient line =
            new DriverStoreClient(new AttemptRendezvous("127.0.0.1", server.port(), "app", 0, false), 0, 0);
    private final SystemContext context = SystemContext.of(JoinOptions.of(0, 2));

    @AfterEach
    void close() {
        line.close();
        context.close();
        server.close();
    }

    private RankFailure reported(Optional<FerroException> ofGroup, Throwable failure) throws Exception {
        CompletableFuture<RankFailure> report = new CompletableFuture<>();
        server.onSet((key, value) -> report.complete(RankFailure.decoded(value, 2)));
        try (RankFailureHandler end = RankFailureHandler.of(TaskContext$.MODULE$.empty(), line)) {
            end.failed(context, ofGroup, failure);
        }
        return report.get(30, TimeUnit.SECONDS);
    }

    private static Optional<FerroException> groupFailedBy(int rank) {
        Where where = Where.of("stage3.0", 0).blaming(rank);
        return Optional.of(new FerroException(Code.ABORTED, where, "rank " + rank + " aborted"));
    }

    @Test
    void theDriverReceivesTheFailureBeforeTheOtherRanks() throws Exception {
        CompletableFuture<Optional<String>> endedAtReport = new CompletableFuture<>();
        server.onSet((key, value) -> endedAtReport.complete(context.ended()));

        try (RankFailureHandler end = RankFailureHandler.of(TaskContext$.MODULE$.empty(), line)) {
            end.failed(context, Optional.empty(), new IllegalStateException("row 17 is bad"));
        }

        assertEquals(Optional.empty(), endedAtReport.get(30, TimeUnit.SECONDS));
        assertTrue(context.ended().orElse("").contains("row 17 is bad"), context.ended() + "");
    }

    @Test
    void anExceptionAfterAnotherRankFailedIsTheGroupsFailure() throws Exception {
        RankFailure report = reported(groupFailedBy(1), new IllegalStateException("training failed"));

        assertTrue(report.ofFerro());
        assertEquals(Code.ABORTED, report.failure().code());
        assertEquals(Set.of(1), report.failure().culprits());
        assertEquals(
                "rank 1 aborted; the function of rank 0 then threw IllegalStateException: training failed",
                report.failure().text());
    }

    @Test
    void anExceptionOfTheBlamedRankIsItsOwnFailure() throws Exception {
        RankFailure report = reported(groupFailedBy(0), new IllegalStateException("row 17 is bad"));

        assertFalse(report.ofFerro());
        assertEquals("IllegalStateException: row 17 is bad", report.failure().text());
    }

    @Test
    void aFailedRecordingDoesNotHideTheExceptionOfTheRank() {
        IllegalStateException own = new IllegalStateException("row 17 is bad");
        IllegalArgumentException unrecorded = new IllegalArgumentException("65536 bytes are too few");

        byte[] recording = RankFailureHandler.recorded(own, () -> {
            throw unrecorded;
        });

        assertArrayEquals(new byte[0], recording);
        assertSame(unrecorded, own.getSuppressed()[0]);
    }
}
