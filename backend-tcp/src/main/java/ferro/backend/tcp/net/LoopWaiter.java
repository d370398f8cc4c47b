package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Makes a caller's thread wait for the background loop, with a time limit. A wait fails only with FerroException. */
public final class LoopWaiter {
    private LoopWaiter() {}

    /**
     * Waits until a future completes.
     *
     * @param late message of the failure at the deadline
     * @throws FerroException the future's failure; INTERRUPTED with the flag set again; or RENDEZVOUS at the deadline,
     *     with a TimeoutException as its cause
     */
    public static <T> T until(CompletableFuture<T> awaited, long nanos, Where where, Supplier<String> late) {
        return within(awaited, nanos, where).orElseThrow(() -> {
            String text = late.get();
            return new FerroException(Code.RENDEZVOUS, where, text, new TimeoutException(text));
        });
    }

    /**
     * Waits for a future for a limited time.
     *
     * @return empty if the future has not completed
     * @throws FerroException the future's failure, or INTERRUPTED with the flag set again
     */
    static <T> Optional<T> within(CompletableFuture<T> awaited, long nanos, Where where) {
        try {
            return Optional.of(awaited.get(Math.max(0, nanos), TimeUnit.NANOSECONDS));
        } catch (TimeoutException passed) {
            return Optional.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED,
                    where,
                    "interrupted while " + where.group() + " rank " + where.rank() + " was joining or asking its store",
                    interrupted);
        } catch (ExecutionException failed) {
            throw failure(failed.getCause(), where);
        }
    }

    /**
     * Waits a limited time for a future, even if the thread is interrupted. The interrupt flag is kept. A failure of
     * the future ends the wait and is not thrown.
     */
    public static void uninterrupted(CompletableFuture<?> awaited, long nanos) {
        long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        boolean over = false;
        while (!over) {
            try {
                awaited.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                over = true;
            } catch (InterruptedException again) {
                interrupted = true;
            } catch (TimeoutException | ExecutionException ended) {
                over = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Pauses between two polls of a result about which no event notifies.
     *
     * @param interrupted message of the failure if the thread is interrupted
     * @throws FerroException INTERRUPTED with the flag set again
     */
    static void pause(long millis, Where where, Supplier<String> interrupted) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException cause) {
            Thread.currentThread().interrupt();
            throw new FerroException(Code.INTERRUPTED, where, interrupted.get(), cause);
        }
    }

    /**
     * Pauses for {@code millis}, or until a deadline if the deadline is earlier. Pauses for at least one millisecond in
     * any case.
     */
    public static void pause(long millis, long leftNanos, Where where, Supplier<String> interrupted) {
        long left = TimeUnit.NANOSECONDS.toMillis(leftNanos);
        pause(Math.max(1, Math.min(millis, left)), where, interrupted);
    }

    /** Returns a failure as a FerroException. */
    public static FerroException failure(Throwable cause, Where where) {
        if (cause instanceof FerroException known) {
            return known;
        }
        return new FerroException(
                cause instanceof OutOfMemoryError ? Code.RESOURCE : Code.RENDEZVOUS,
                where,
                "joining \"" + where.group() + "\" failed on rank " + where.rank() + ": " + cause,
                cause);
    }
}
