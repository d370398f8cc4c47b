package ferro;

import ferro.FerroException.Code;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * One handle for several operations; see {@link Work#all}.
 *
 * @param parts operations, in their order
 */
record CombinedWork(List<Work> parts) implements Work {
    /** How long {@link #awaitAny} waits for the first part before it polls the other parts. */
    private static final long FIRST_TURN_NANOS = 10_000;

    /**
     * Longest wait for one part. A wait first polls and then sleeps. The limit exceeds the time of polling, so that the
     * waiting thread sleeps for most of a long wait.
     */
    private static final long LONGEST_TURN_NANOS = 10_000_000;
    /**
     * Divisor of the time that the thread has waited for any part. The quotient is the length of the next wait for one
     * part. The total wait is therefore at most {@code 1 / TURN_PART} longer than necessary.
     */
    private static final int TURN_PART = 8;

    @Override
    public boolean isDone() {
        return parts.stream().allMatch(Work::isDone);
    }

    /**
     * Waits for all operations, even after one operation has failed, because the tensors may be read or written until
     * the last operation has ended. Waits for the last operation first. Operations of one group end in their order, so
     * for one group only the first wait blocks. An interrupt ends the operation for which the thread waits, and
     * therefore also all earlier operations. After an interrupt, the wait throws the failure with code INTERRUPTED.
     */
    @Override
    public void await() {
        RuntimeException first = null;
        for (int i = parts.size() - 1; i >= 0; i--) {
            try {
                parts.get(i).await();
            } catch (RuntimeException failure) {
                first = isInterrupt(first) ? first : failure;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /**
     * Waits until a part has ended, and returns the position of the part. Waits for one part after another, and longer
     * each time, so that this thread makes progress on all parts. An interrupt ends the part for which the thread
     * waits.
     */
    int awaitAny() {
        long begun = System.nanoTime();
        for (int turn = 0; ; turn++) {
            int ended = firstEnded();
            if (ended >= 0) {
                return ended;
            }
            Work part = parts.get(turn % parts.size());
            try {
                if (Thread.currentThread().isInterrupted()) {
                    part.await();
                } else {
                    long nanos = Math.max(FIRST_TURN_NANOS, (System.nanoTime() - begun) / TURN_PART);
                    part.await(Duration.ofNanos(Math.min(nanos, LONGEST_TURN_NANOS)));
                }
            } catch (RuntimeException failure) {
                if (!part.isDone()) {
                    throw failure;
                }
            }
        }
    }

    private int firstEnded() {
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).isDone()) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isInterrupt(RuntimeException failure) {
        return failure instanceof FerroException ferro && ferro.code() == Code.INTERRUPTED;
    }

    @Override
    public boolean await(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(timeout));
        long begun = System.nanoTime();
        RuntimeException first = null;
        for (Work part : parts) {
            try {
                part.await(Duration.ofNanos(nanos - (System.nanoTime() - begun)));
            } catch (RuntimeException failure) {
                first = first == null ? failure : first;
            }
        }
        if (first != null && isDone()) {
            throw first;
        }
        return first == null && isDone();
    }

    @Override
    public CompletionStage<Void> completion() {
        return CompletableFuture.allOf(parts.stream()
                        .map(part -> part.completion().toCompletableFuture())
                        .toArray(CompletableFuture<?>[]::new))
                .minimalCompletionStage();
    }

    @Override
    public long sequence() {
        return parts.isEmpty() ? -1 : parts.get(parts.size() - 1).sequence();
    }

    @Override
    public Duration elapsed() {
        return parts.stream().map(Work::elapsed).max(Duration::compareTo).orElse(Duration.ZERO);
    }
}
