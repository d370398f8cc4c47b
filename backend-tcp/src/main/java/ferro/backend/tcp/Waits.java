package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
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
        try {
            return awaited.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (TimeoutException passed) {
            throw new FerroException(Code.RENDEZVOUS, where, late.get());
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
