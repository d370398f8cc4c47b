package ferro.spark.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.spark.driver.BarrierAttempt.AttemptOutcome;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.failure.RankFailure;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobAttemptsTest {
    private final SparkJobOptions plan = SparkJobOptions.standard(
                    Duration.ofSeconds(60), Duration.ofSeconds(60), report -> {})
            .withAttempts(3);

    private static AttemptOutcome<String> failed(List<String> unended) {
        RankFailure lost = new RankFailure(
                new Failure(Code.PEER_LOST, 0, -1, Set.of(), "rank 1 is lost", null), true, List.of(), new byte[0]);
        Exception ofSpark = new IllegalStateException("a task failed");
        FailedAttempt failure = new FailedAttempt(List.of(lost), new TaskTracker("none"), List.of(), false, ofSpark);
        return new AttemptOutcome<>(null, failure, unended);
    }

    @Test
    void aJobWhoseLastAttemptSucceedsHasItsResults() {
        assertEquals(
                List.of("attempt 2"),
                JobAttempts.tried(
                        "job a",
                        plan,
                        attempt -> attempt < 2
                                ? failed(List.of())
                                : new AttemptOutcome<>(List.of("attempt " + attempt), null, List.of())));
    }

    /** Examples are slots that stay occupied, and a port that is in use. */
    @Test
    void aRefusedRetryDoesNotHideTheFailure() {
        IllegalArgumentException refusal = new IllegalArgumentException("4 ranks need 4 slots at once, found 2");

        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> JobAttempts.tried("job a", plan, attempt -> {
                    if (attempt > 0) {
                        throw refusal;
                    }
                    return failed(List.of());
                }));

        assertEquals(
                "job a, attempt 1 of 3 failed: PEER_LOST: rank 1 is lost; no further attempt: 4 ranks need 4 slots at once,"
                        + " found 2",
                failure.getMessage());
        assertSame(refusal, failure.getSuppressed()[0]);
    }

    @Test
    void aRefusalOfTheFirstAttemptIsThrownUnchanged() {
        IllegalArgumentException refusal = new IllegalArgumentException("4 ranks need 4 slots at once, found 2");

        assertSame(
                refusal,
                assertThrows(
                        IllegalArgumentException.class,
                        () -> JobAttempts.tried("job a", plan, attempt -> {
                            throw refusal;
                        })));
    }

    @Test
    void anAttemptWhoseTasksDoNotEndIsTheLast() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> JobAttempts.tried(
                        "job a", plan, attempt -> failed(List.of("rank 1, task 7 on executor 2 (host)"))));

        assertEquals(
                "job a, attempt 1 of 3 failed: PEER_LOST: rank 1 is lost; no further attempt: rank 1, task 7 on executor 2"
                        + " (host) does not end; set spark.task.reaper.enabled=true",
                failure.getMessage());
    }
}
