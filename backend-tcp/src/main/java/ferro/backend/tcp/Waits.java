package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Waiting of a caller's thread for the loop: bounded, interruptible, and failing with FerroException only. */
final class Waits {
    private Waits() {}

    /**
     * Waits.
     *
     * @param late what to say at the deadline
     * @throws FerroException the future's own, INTERRUPTED with the flag set again, or RENDEZVOUS at the deadline
     */
    static <T> T until(CompletableFuture<T> awaited, long nanos, Where where, Supplier<String> late) {
        return within(awaited, nanos, where).orElseThrow(() -> new FerroException(Code.RENDEZVOUS, where, late.get()));
    }

    /**
     * Waits a while.
     *
     * @return empty if nothing has come
     * @throws FerroException the future's own, or INTERRUPTED with the flag set again
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
     * Pauses between two looks, as nobody sends word.
     *
     * @param interrupted what to say if that happens
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

    /** Does so for at least a millisecond, and not beyond a deadline. */
    static void pause(long millis, long leftNanos, Where where, Supplier<String> interrupted) {
        long left = TimeUnit.NANOSECONDS.toMillis(leftNanos);
        pause(Math.max(1, Math.min(millis, left)), where, interrupted);
    }

    /** A failure as a FerroException. */
    static FerroException failure(Throwable cause, Where where) {
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
