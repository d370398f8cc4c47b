package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.CallCounters.Totals;
import ferro.CollectiveKind;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The count of a group's calls, and the snapshots that programs read. */
@Timeout(60)
class CallCounterTest {
    private static final int ALL_REDUCE = CallCounter.indexOf(CollectiveKind.ALL_REDUCE);

    private final CallCounter counter = new CallCounter();

    @Test
    void callsAreCountedByKind() {
        counter.ended(ALL_REDUCE, 1, 400, 5, 5 + 2_000);
        counter.ended(ALL_REDUCE, 3, 24, 5, 5 + 1_000);
        counter.ended(CallCounter.indexOf(CollectiveKind.BARRIER), 1, 0, 5, 5 + 7);
        counter.ended(CallCounter.SEND, 1, 40, 5, 5 + 11);
        counter.ended(CallCounter.RECEIVE, 1, 48, 5, 5 + 13);

        CallCounters found = counter.counters();

        assertEquals(new Totals(4, 424, Duration.ofNanos(3_000)), found.of(CollectiveKind.ALL_REDUCE));
        assertEquals(new Totals(1, 0, Duration.ofNanos(7)), found.of(CollectiveKind.BARRIER));
        assertEquals(new Totals(1, 40, Duration.ofNanos(11)), found.sends());
        assertEquals(new Totals(1, 48, Duration.ofNanos(13)), found.receives());
        assertEquals(Totals.NONE, found.of(CollectiveKind.GATHER));
        assertEquals(new Totals(7, 512, Duration.ofNanos(3_031)), found.all());
    }

    @Test
    void aSnapshotStaysUnchangedAndCanBeSubtracted() {
        counter.ended(ALL_REDUCE, 1, 400, 5, 5 + 2_000);
        CallCounters first = counter.counters();
        counter.ended(ALL_REDUCE, 1, 100, 5, 5 + 500);
        CallCounters second = counter.counters();

        assertEquals(1, first.of(CollectiveKind.ALL_REDUCE).calls());
        Totals between = new Totals(1, 100, Duration.ofNanos(500));
        CallCounters expected = new CallCounters(Map.of(CollectiveKind.ALL_REDUCE, between), Totals.NONE, Totals.NONE);
        assertEquals(expected, second.minus(first));
        assertEquals(second, first.plus(expected));
        assertEquals(CallCounters.NONE, second.minus(second));
        assertThrows(IllegalArgumentException.class, () -> first.minus(second));
    }

    @Test
    void theTableHasALineForEachCalledKind() {
        counter.ended(ALL_REDUCE, 12, 9_216_000, 5, 5 + 1_234_567);
        counter.ended(CallCounter.SEND, 1, 40, 5, 5 + 1_000_000);

        assertEquals("""
            call               calls              bytes        time ms
            allReduce             12          9,216,000          1.235
            send                   1                 40          1.000
            all                   13          9,216,040          2.235
            """, counter.counters().toString());
    }

    @Test
    void aReaderGetsConsistentCounters() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> counting = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                counter.ended(ALL_REDUCE, 1, 8, 5, 5 + 3);
            }
        });
        try {
            long highest = 0;
            while (highest < 200_000) {
                Totals totals = counter.counters().of(CollectiveKind.ALL_REDUCE);
                assertEquals(8 * totals.calls(), totals.bytes());
                assertEquals(3 * totals.calls(), totals.time().toNanos());
                assertTrue(totals.calls() >= highest);
                highest = totals.calls();
            }
        } finally {
            over.set(true);
            counting.get(10, TimeUnit.SECONDS);
        }
    }
}
