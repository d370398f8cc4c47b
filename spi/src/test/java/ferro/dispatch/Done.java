package ferro.dispatch;

import ferro.Work;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** A handle whose end the test decides. */
record Done(CompletableFuture<Void> end) implements Work {
    static Done well() {
        return new Done(CompletableFuture.completedFuture(null));
    }

    static Done open() {
        return new Done(new CompletableFuture<>());
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
        await();
        return true;
    }

    @Override
    public CompletionStage<Void> completion() {
        return end;
    }

    @Override
    public long sequence() {
        return 1;
    }

    @Override
    public Duration elapsed() {
        return Duration.ZERO;
    }
}
