package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.nccl.queue.Deadline;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Passes the ids of communicators from the rank that creates an id to the other ranks. */
interface IdExchange extends AutoCloseable {
    /** Publishes an id. */
    void set(String key, NcclUniqueId id);

    /**
     * Waits for an id.
     *
     * @throws FerroException RENDEZVOUS after the timeout, INTERRUPTED
     */
    NcclUniqueId get(String key, Duration timeout);

    /** On the first rank, creates an id and publishes it. On the other ranks, waits for the id. */
    default NcclUniqueId meet(String key, boolean isFirst, Deadline deadline) {
        if (!isFirst) {
            return get(key, Duration.ofNanos(Math.max(1, deadline.remainingNanos())));
        }
        NcclUniqueId id = NcclUniqueId.made();
        set(key, id);
        return id;
    }

    /** Releases the store of the exchange, when the last group of the join is closed. */
    @Override
    default void close() {
        // an exchange within this process has no resources
    }

    /**
     * Returns an exchange that passes ids through the store of the job. {@code giveBack} releases the store at the
     * close.
     */
    static IdExchange of(Store store, Runnable giveBack) {
        return new IdExchange() {
            @Override
            public void close() {
                giveBack.run();
            }

            @Override
            public void set(String key, NcclUniqueId id) {
                store.set(key, id.toBytes());
            }

            @Override
            public NcclUniqueId get(String key, Duration timeout) {
                return NcclUniqueId.fromBytes(store.get(key, timeout));
            }
        };
    }

    /** Returns an exchange that passes ids between ranks of this process. */
    static IdExchange local() {
        Map<String, CompletableFuture<NcclUniqueId>> ids = new ConcurrentHashMap<>();
        return new IdExchange() {
            private CompletableFuture<NcclUniqueId> of(String key) {
                return ids.computeIfAbsent(key, unknown -> new CompletableFuture<>());
            }

            @Override
            public void set(String key, NcclUniqueId id) {
                of(key).complete(id);
            }

            @Override
            public NcclUniqueId get(String key, Duration timeout) {
                try {
                    return of(key).get(Deadlines.nanos(timeout), TimeUnit.NANOSECONDS);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw failure(Code.INTERRUPTED, key, "the wait was interrupted", interrupted);
                } catch (TimeoutException | ExecutionException late) {
                    String why = "it did not come within " + Deadlines.millis(timeout) + " ms";
                    throw failure(Code.RENDEZVOUS, key, why, late);
                }
            }
        };
    }

    private static FerroException failure(Code code, String key, String why, Exception cause) {
        return new FerroException(code, Where.of("", -1), "no id of a communicator under " + key + ": " + why, cause);
    }
}
