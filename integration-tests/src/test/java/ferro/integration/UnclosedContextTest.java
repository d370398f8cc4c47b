package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.harness.HeardLog;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A simulated rank whose context cannot be closed, because the log of the program throws. */
@Timeout(60)
class UnclosedContextTest {
    private static final IllegalStateException OF_LOG = new IllegalStateException("the log is full");

    @Test
    void aRunReportsTheFailureOfTheRankAndOfItsContext() {
        IllegalStateException own = new IllegalStateException("no more batches");
        Predicate<LogRecord> full = record -> {
            throw OF_LOG;
        };
        try (HeardLog log = new HeardLog("ferro.group", full)) {
            AssertionError failure = assertThrows(
                    AssertionError.class,
                    () -> SimulatedBackend.run(2, group -> {
                        if (group.rank() == 0) {
                            group.send(new int[] {3}, 1, 4); // returns before rank 1 refuses the type
                            assertTrue(hasFailed(group), "the group has not failed");
                            throw own; // the context then logs why its group cannot be closed
                        }
                        assertThrows(FerroException.class, () -> group.recv(new float[1], 0, 4));
                    }));

            assertSame(own, failure.getCause());
            assertEquals(List.of(OF_LOG), List.of(failure.getSuppressed()));
            assertEquals(List.of(), log.records());
        }
    }

    private static boolean hasFailed(ProcessGroup group) {
        long begun = System.nanoTime();
        while (group.failure().isEmpty() && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20)) {
            LockSupport.parkNanos(2_000_000);
        }
        return group.failure().isPresent();
    }
}
