package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TcpDiagnosisTest extends DiagnosisRows {
    private static final int LARGE = 8 << 20;

    @Override
    Ranks ranks(int worldSize) {
        return Ranks.over("tcp", worldSize);
    }

    @Test
    void aTimeoutReportsTheBytesOfTheUnfinishedMessage() {
        try (Ranks ranks = ranks(2)) {
            FerroException failure = OnThread.result(ranks.start(
                            0, group -> group.within(Duration.ofMillis(500)).broadcast(new float[LARGE], 0)))
                    .failure();
            assertEquals(Code.TIMED_OUT, failure.code(), failure.getMessage());
            long moved = failure.where().bytesMoved();
            assertTrue(moved > 0 && moved < 4L * LARGE, "what the socket took of " + 4L * LARGE + ": " + moved);
        }
    }
}
