package ferro.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Work;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class PendingBucketsTest {
    private final long[] now = {Long.MAX_VALUE - 5};

    /** A call that ends at a time; waiting for it moves the clock there. */
    private final class Timed implements GradientHook.Exchange, Work {
        private final long took;
        private long begun;

        Timed(long took) {
            this.took = took;
        }

        @Override
        public Work start(int contributors) {
            begun = now[0];
            return this;
        }

        @Override
        public void finish(int contributors) {}

        @Override
        public boolean isDone() {
            return now[0] - begun >= took;
        }

        @Override
        public void await() {
            now[0] = isDone() ? now[0] : begun + took;
        }

        @Override
        public boolean await(Duration timeout) {
            await();
            return true;
        }

        @Override
        public CompletionStage<Void> completion() {
            return CompletableFuture.completedStage(null);
        }

        @Override
        public long sequence() {
            return 1;
        }

        @Override
        public Duration elapsed() {
            return Duration.ofNanos(took);
        }
    }

    @Test
    void timeWithSeveralBucketsInFlightCountsOnce() {
        PendingBuckets buckets = buckets(10, 25, 5);
        buckets.startNext(1);
        now[0] += 4;
        buckets.startNext(1);
        buckets.startNext(1);

        // they are under way from 0 to 29; from 20 on this rank waits
        now[0] += 16;
        end(buckets, 3);

        assertEquals(new StepTimes(Duration.ofNanos(9), Duration.ofNanos(20)), buckets.end());
    }

    @Test
    void timeBetweenBucketsIsNotCounted() {
        PendingBuckets buckets = buckets(10, 10);
        buckets.startNext(1);
        now[0] += 50;
        buckets.startNext(1);
        now[0] += 3;
        end(buckets, 2);

        assertEquals(new StepTimes(Duration.ofNanos(7), Duration.ofNanos(13)), buckets.end());
    }

    @Test
    void everyStepIsMeasuredAlone() {
        PendingBuckets buckets = buckets(10);
        for (int step = 0; step < 3; step++) {
            assertEquals(0, buckets.next());
            buckets.startNext(1);
            now[0] += 4;
            assertFalse(buckets.hasEnded(0));
            end(buckets, 1);
            assertTrue(buckets.hasEnded(0));
            assertEquals(new StepTimes(Duration.ofNanos(6), Duration.ofNanos(4)), buckets.end());
        }
    }

    private PendingBuckets buckets(long... took) {
        return new PendingBuckets(
                Arrays.stream(took).<GradientHook.Exchange>mapToObj(Timed::new).toList(), () -> now[0]);
    }

    private static void end(PendingBuckets buckets, int count) {
        for (int bucket = 0; bucket < count; bucket++) {
            buckets.endNext(1);
        }
    }
}
