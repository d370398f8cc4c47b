package ferro.backend.gloofallback;

import ferro.Work;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * The handle of a message whose last part comes after the host's part; done when {@code ended} is.
 *
 * @param network the host's part
 * @param ended   completed after the network's part, with the result of the part after it
 */
record MessageWork(Work network, CompletableFuture<Void> ended) implements Work {
    @Override
    public boolean isDone() {
        return ended.isDone();
    }

    /**
     * Waits for the host's part, which an interrupt ends as the host specifies. The part after that is short and bounded.
     */
    @Override
    public void await() {
        network.await();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    ended.get();
                    return;
                } catch (InterruptedException later) {
                    interrupted = true;
                } catch (ExecutionException failed) {
                    throw RoundTripWork.unwrapped(failed.getCause());
                }
            }
        } finally {
            RoundTripWork.restore(interrupted);
        }
    }

    @Override
    public boolean await(Duration timeout) {
        long until = System.nanoTime() + Deadlines.nanos(timeout);
        return network.await(timeout) && RoundTripWork.hasEnded(ended, Math.max(0, until - System.nanoTime()));
    }

    @Override
    public CompletionStage<Void> completion() {
        return ended.minimalCompletionStage();
    }

    @Override
    public long sequence() {
        return network.sequence();
    }

    @Override
    public Duration elapsed() {
        return network.elapsed();
    }
}
