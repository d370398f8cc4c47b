package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.Deadlines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A store for ranks in one process, which need no shared one. */
public final class LocalStore implements Store {
    private final Map<String, byte[]> values = new HashMap<>();
    private final Map<String, List<CompletableFuture<byte[]>>> waiting = new HashMap<>();

    /** Returns what is under each key, as Latin-1. */
    public synchronized Map<String, String> values() {
        Map<String, String> texts = new HashMap<>();
        values.forEach((key, value) -> texts.put(key, new String(value, StandardCharsets.ISO_8859_1)));
        return texts;
    }

    @Override
    public void set(String key, byte[] value) {
        List<CompletableFuture<byte[]>> told;
        synchronized (this) {
            values.put(key, value.clone());
            told = waiting.remove(key);
        }
        if (told != null) {
            told.forEach(one -> one.complete(value.clone()));
        }
    }

    @Override
    public CompletionStage<byte[]> when(String key) {
        return future(key).minimalCompletionStage();
    }

    private synchronized CompletableFuture<byte[]> future(String key) {
        byte[] value = values.get(key);
        if (value != null) {
            return CompletableFuture.completedFuture(value.clone());
        }
        CompletableFuture<byte[]> coming = new CompletableFuture<>();
        waiting.computeIfAbsent(key, none -> new ArrayList<>()).add(coming);
        return coming;
    }

    @Override
    public byte[] get(String key, Duration timeout) {
        try {
            return future(key).get(Deadlines.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            throw failure(Code.RENDEZVOUS, key, "was not set within " + Deadlines.millis(timeout) + " ms", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failure(Code.INTERRUPTED, key, "was not set before the wait was interrupted", interrupted);
        } catch (ExecutionException impossible) {
            throw failure(Code.RENDEZVOUS, key, "failed", impossible.getCause());
        }
    }

    private static FerroException failure(Code code, String key, String what, Throwable cause) {
        return new FerroException(code, Where.of("", -1), "key \"" + key + "\" " + what, cause);
    }

    @Override
    public long add(String key, long delta) {
        long sum;
        synchronized (this) {
            byte[] old = values.get(key);
            sum = delta + (old == null ? 0 : Long.parseLong(new String(old, StandardCharsets.US_ASCII)));
            set(key, Long.toString(sum).getBytes(StandardCharsets.US_ASCII));
        }
        return sum;
    }

    @Override
    public synchronized byte[] compareAndSet(String key, byte[] expected, byte[] value) {
        byte[] old = values.get(key);
        boolean same = expected == null ? old == null : Arrays.equals(expected, old);
        if (!same) {
            return old == null ? null : old.clone();
        }
        set(key, value);
        return value.clone();
    }

    @Override
    public synchronized boolean delete(String key) {
        return values.remove(key) != null;
    }

    /** Does nothing, since nothing is held open. */
    @Override
    public void close() {
        // the map is freed with its last user
    }
}
