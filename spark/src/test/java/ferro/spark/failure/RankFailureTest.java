package ferro.spark.failure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankFailureTest {
    @Test
    void aReportIsReadBackAsWritten() {
        FerroException timedOut =
                new FerroException(Code.TIMED_OUT, Where.of("stage3.0", 1).blaming(2, 3), "rank 2 is late");

        RankFailure read = RankFailure.decoded(
                RankFailure.of(1, timedOut, new byte[] {7, 8, 9}).value(), 4);

        assertEquals(1, read.rank());
        assertEquals(Code.TIMED_OUT, read.failure().code());
        assertEquals(Set.of(2, 3), read.failure().culprits());
        assertEquals("rank 2 is late", read.failure().text());
        assertArrayEquals(new byte[] {7, 8, 9}, read.recording());
    }

    @Test
    void aReportOfRanksOutsideTheJobBlamesNoRank() {
        FerroException lost =
                new FerroException(Code.PEER_LOST, Where.of("pair", 0).blaming(1, 7), "rank 7 is lost");

        RankFailure read =
                RankFailure.decoded(RankFailure.of(1, lost, new byte[] {7}).value(), 4);

        assertEquals(Code.PEER_LOST, read.failure().code());
        assertEquals(Set.of(), read.failure().culprits());
        assertEquals("rank 7 is lost", read.failure().text());
        assertArrayEquals(new byte[] {7}, read.recording());
    }

    @Test
    void aReportByARankOutsideTheJobIsRefused() {
        byte[] report =
                RankFailure.of(4, new IllegalStateException("own"), new byte[0]).value();

        assertThrows(IllegalArgumentException.class, () -> RankFailure.decoded(report, 4));
    }

    @Test
    void aLongMessageIsCutWithItsMissingLength() {
        RankFailure read = RankFailure.decoded(
                RankFailure.of(1, new IllegalStateException("x".repeat(5_000)), new byte[0])
                        .value(),
                4);

        String text = read.failure().text();
        assertTrue(text.startsWith("IllegalStateException: xxx"), text);
        assertTrue(text.matches("[^.]*x \\.\\.\\. \\(2\\d{3} more characters\\)"), text);
    }

    @Test
    void aWrappedFerroFailureIsAFerroFailure() {
        FerroException lost =
                new FerroException(Code.PEER_LOST, Where.of("g", 0).blaming(1), "rank 1 is lost");

        assertTrue(RankFailure.of(0, new IllegalStateException("wrapped", lost), new byte[0])
                .ofFerro());
        assertFalse(
                RankFailure.of(0, new IllegalStateException("own"), new byte[0]).ofFerro());
    }

    @Test
    void anExceptionOfAKilledRankIsReportedAsAbort() {
        RankFailure killed = RankFailure.ofKill(1, new InterruptedException("sleep interrupted"), new byte[] {7});

        assertTrue(killed.ofFerro());
        assertEquals(Code.ABORTED, killed.failure().code());
        assertEquals(Set.of(), killed.failure().culprits());
        String text = killed.failure().text();
        assertTrue(text.endsWith("InterruptedException: sleep interrupted"), text);
    }

    @Test
    void aReportNamesSuperclassesAndCauses() {
        RankFailure report =
                RankFailure.of(0, new RuntimeException(new java.io.FileNotFoundException("x")), new byte[0]);

        assertTrue(
                report.types().contains("java.io.IOException"), report.types().toString());
    }

    @Test
    void aTruncatedReportIsRefused() {
        byte[] complete =
                RankFailure.of(0, new IllegalStateException("own"), new byte[5]).value();

        for (int length = 0; length < complete.length; length++) {
            byte[] part = Arrays.copyOf(complete, length);
            assertThrows(IllegalArgumentException.class, () -> RankFailure.decoded(part, 1));
        }
    }
}
