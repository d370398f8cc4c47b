package ferro.dispatch;

import ferro.Work;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A handle whose end the test decides. */
public record Done(CompletableFuture<Void> end, long sequence, Duration elapsed) implements Work {
    static Done well() {
        return new Done(CompletableFuture.completedFuture(null), 1, Duration.ZERO);
    }

    static Done open() {
        return open(1, Duration.ZERO);
    }

    public static Done open(long sequence, Duration elapsed) {
        return new Done(new CompletableFuture<>(), sequence, elapsed);
    }

    @Override
    public boolean isDone() {
        return end.isDone();
    }

    @Override
    public void await() {
        try {
            end.join();
        } catch (CompletionException failure) {
            throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
        }
    }

    @Override
    public boolean await(Duration timeout) {
        try {
            end.get(Math.max(0, timeout.toNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException notYet) {
            return false;
        } catch (Exception failed) {
            await();
        }
        return true;
    }

    @Override
    public CompletionStage<Void> completion() {
        return end;
    }
}
