package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** A rank that aborts its group while another thread of this rank sends another failure. */
class AbortDuringFailureTest {
    private final CountDownLatch recording = new CountDownLatch(1);
    private final CountDownLatch recorded = new CountDownLatch(1);

    private final class SlowRecording implements AgreedFailure.FailureListener {
        @Override
        public void died(Set<Integer> ranks) {}

        @Override
        public Set<Integer> blamed(Failure cause) {
            return Set.of();
        }

        @Override
        public void beforeCallersHear() {
            recording.countDown();
            try {
                assertTrue(recorded.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void failed(Failure agreed, boolean isFirst) {}
    }

    @Test
    void anAbortDuringAnotherFailureReturnsOnceCallsFail() throws Exception {
        AgreedFailure failure = new AgreedFailure(
                new ControlSender(
                        null,
                        GroupSpec.of("dp", 0, 1, Duration.ofSeconds(20)),
                        new OverlayNeighbours(new Overlay(0, 1, 1, Overlay.ALL_STEPS))),
                FailurePolicy.SHIPPED,
                System::nanoTime,
                new SlowRecording());
        CompletableFuture<Void> heard = CompletableFuture.runAsync(() -> failure.fail(aborted("first")));
        assertTrue(recording.await(20, TimeUnit.SECONDS));

        CompletableFuture<Boolean> own = CompletableFuture.supplyAsync(() -> {
            failure.failUnlessFailed(aborted("second"));
            failure.awaitTold();
            return failure.isKnown();
        });

        assertThrows(TimeoutException.class, () -> own.get(50, TimeUnit.MILLISECONDS));
        assertFalse(failure.isKnown());
        recorded.countDown();
        assertTrue(own.get(20, TimeUnit.SECONDS));
        heard.get(20, TimeUnit.SECONDS);
    }

    private static Failure aborted(String text) {
        return new Failure(Code.ABORTED, 0, -1, Set.of(0), text, null);
    }
}
