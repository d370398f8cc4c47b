package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import ferro.FerroException.Code;
import ferro.dispatch.Done;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CombinedWorkTest {
    private final Done first = Done.open(4, Duration.ofMillis(30));
    private final Done second = Done.open(7, Duration.ofMillis(20));
    private final Work all = Work.all(List.of(first, second));

    @Test
    void theCombinedWorkIsDoneWhenTheLastWorkIs() {
        CompletableFuture<Void> chained = all.completion().toCompletableFuture();
        second.end().complete(null);
        assertFalse(all.isDone());
        assertFalse(all.await(Duration.ofMillis(5)));
        assertFalse(chained.isDone());
        first.end().complete(null);
        assertTrue(all.isDone());
        assertTrue(all.await(Duration.ZERO));
        assertTrue(all.await(Duration.ofSeconds(Long.MIN_VALUE)));
        assertTrue(all.await(Duration.ofSeconds(Long.MAX_VALUE)));
        all.await();
        assertTrue(chained.isDone());
        assertEquals(7, all.sequence());
        assertEquals(Duration.ofMillis(30), all.elapsed());
    }

    @Test
    void theCombinedWorkWaitsForAllAlthoughOneHasFailed() {
        IllegalStateException failure = new IllegalStateException("of the first");
        first.end().completeExceptionally(failure);
        assertFalse(all.isDone(), "the second may still touch its tensors");
        CompletableFuture<RuntimeException> told =
                CompletableFuture.supplyAsync(() -> assertThrows(IllegalStateException.class, all::await));
        assertThrows(TimeoutException.class, () -> told.get(20, TimeUnit.MILLISECONDS));
        assertFalse(all.await(Duration.ZERO), "nor is it over for one who looks");
        second.end().complete(null);
        assertSame(failure, told.join());
        assertSame(failure, assertThrows(IllegalStateException.class, () -> all.await(Duration.ZERO)));
        CompletableFuture<Void> chained = all.completion().toCompletableFuture();
        CompletionException thrown = assertThrows(CompletionException.class, chained::join);
        assertSame(failure, thrown.getCause());
    }

    @Test
    void theTimeoutIsForAllWorksTogether() {
        List<Duration> timeouts = new ArrayList<>();
        Work late = mock(Work.class, call -> {
            if (call.getMethod().getName().equals("await")) {
                timeouts.add(call.getArgument(0));
                Thread.sleep(20);
            }
            return false;
        });
        assertFalse(Work.all(List.of(late, late)).await(Duration.ofSeconds(1)));
        assertTrue(timeouts.get(1).compareTo(Duration.ofMillis(980)) <= 0, timeouts::toString);
    }

    @Test
    void theCombinedWorkThrowsAnInterruptFirst() {
        FerroException.Where where = FerroException.Where.of("world", 0);
        FerroException interrupted = new FerroException(Code.INTERRUPTED, where, "rank 0 was interrupted");
        first.end().completeExceptionally(new FerroException(Code.ABORTED, where, "rank 0 aborted the group"));
        second.end().completeExceptionally(interrupted);
        assertSame(interrupted, assertThrows(FerroException.class, all::await));
        assertSame(interrupted, assertThrows(FerroException.class, Work.all(List.of(second, first))::await));
    }

    @Test
    void combiningNoWorkIsDoneAtOnce() {
        Work nothing = Work.all(List.of());
        assertTrue(nothing.isDone());
        nothing.await();
        assertEquals(-1, nothing.sequence());
        assertEquals(Duration.ZERO, nothing.elapsed());
    }
}
