package ferro.spark.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.spark.failure.RankFailure;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailedAttemptTest {
    private static FailedAttempt of(Exception ofSpark, Code... codes) {
        List<RankFailure> reports = List.of(codes).stream()
                .map(code -> new RankFailure(
                        new Failure(code, 0, -1, Set.of(), "reported", null), true, List.of(), new byte[0]))
                .toList();
        return new FailedAttempt(reports, new TaskTracker("none"), List.of(), false, ofSpark);
    }

    @Test
    void mistakesOfTheProgramAreNotRetried() {
        Set<Code> kept = EnumSet.of(Code.MISMATCH, Code.PROTOCOL, Code.UNAUTHENTICATED, Code.NATIVE);
        for (Code code : Code.values()) {
            boolean another =
                    of(new IllegalStateException("a task failed"), code).worthAnother(List.of());
            assertEquals(!kept.contains(code), another, code.name());
        }
    }

    @Test
    void theGravestFailureDecidesAboutARetry() {
        assertFalse(of(new IllegalStateException("a task failed"), Code.ABORTED, Code.MISMATCH)
                .worthAnother(List.of()));
    }

    /** The texts of Spark 3.5 and of Spark 4. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Job 1 cancelled part of cancelled job group night",
                "[SPARK_JOB_CANCELLED] Job 1 cancelled part of cancelled job group night SQLSTATE: XXKDA"
            })
    void aCancelledJobIsNotRetried(String text) {
        FailedAttempt cancelled = of(new IllegalStateException(text), Code.ABORTED);

        assertFalse(cancelled.worthAnother(List.of()));
        assertTrue(cancelled.exception("job a").getMessage().contains("was cancelled: " + text));
    }

    @Test
    void aStoppedContextIsNotRetried() {
        FailedAttempt stopped =
                of(new IllegalStateException("Job 3 cancelled because SparkContext was shut down"), Code.PEER_LOST);

        assertFalse(stopped.worthAnother(List.of()));
        assertTrue(stopped.exception("job a").getMessage().contains("SparkContext was stopped"));
    }

    @Test
    void anInterruptOfTheDriverThreadIsNotRetried() {
        FailedAttempt interrupted = of(new InterruptedException("stop"), Code.ABORTED);

        assertFalse(interrupted.worthAnother(List.of()));
        assertTrue(interrupted.exception("job a").getMessage().contains("was interrupted"));
    }
}
