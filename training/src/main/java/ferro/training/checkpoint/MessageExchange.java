package ferro.training.checkpoint;

import ferro.FerroException;
import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import ferro.spi.Deadlines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The messages that each rank sends to all ranks. A message is a JSON object. If a rank fails, its message contains the
 * failure, and all ranks fail.
 *
 * <p>A rank may need longer for its message than the deadline, for example to write a large file. While the storage of
 * the rank makes progress, the rank sends short messages, so that the other ranks continue to wait. If a rank or its
 * storage makes no progress for as long as the deadline, the exchange fails on all ranks.
 */
final class MessageExchange {
    private static final int MAX_BYTES = 1 << 30;
    private static final String ERROR = "error";
    private static final String HOST = "host";
    private static final String WORKING = "working";
    /** Number of short messages that a rank sends in one deadline while the rank is still making its message. */
    private static final int TURNS = 16;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final ProcessGroup group;
    private final long deadlineNanos;
    private final long turnNanos;
    private final GroupObjects<String> texts;
    private final String host;
    /** The exchange for which this rank makes a message; null if it makes no message, or waits for other ranks. */
    private volatile String making;

    /** The time of the last progress of this rank. */
    private volatile long movedAt;
    /** The time of the last message to the other ranks. Guarded by this object. */
    private long sentAt;

    /** The contribution of one rank to an exchange. If a contribution throws, the exchange fails on all ranks. */
    @FunctionalInterface
    interface Contribution {
        /** Returns the fields of this rank's message. */
        Map<String, Object> make() throws Exception;
    }

    /** Creates the messages of a group. A rank and its storage may make no progress for up to {@code deadline}. */
    MessageExchange(ProcessGroup group, Duration deadline, ReportingStorage storage, String host) {
        deadlineNanos = Deadlines.nanos(deadline);
        turnNanos = deadlineNanos / TURNS;
        // the other ranks have no message yet about progress that is younger than a turn
        this.group = group.within(Duration.ofNanos(deadlineNanos + turnNanos));
        this.host = host;
        texts = this.group.objects(Codec.utf8()).withLimit(MAX_BYTES);
        storage.progress = this::progress;
    }

    int rank() {
        return group.rank();
    }

    int worldSize() {
        return group.worldSize();
    }

    /** Returns the name of this rank and its host for messages. */
    String origin() {
        return "rank " + rank() + " on host " + host;
    }

    /**
     * Runs this rank's part of a call that all ranks make. If {@link #exchange} throws on one rank, {@code exchange}
     * throws on all ranks. An error outside an exchange, for example an OutOfMemoryError, is thrown on this rank only.
     * After an error outside an exchange, this method aborts the group, so that other ranks do not wait for this rank.
     */
    <T> T together(Supplier<T> part) {
        try {
            return part.get();
        } catch (Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    /**
     * Exchanges the contributions of all ranks. The index in the result is the rank. If a contribution throws an
     * exception or an error, all ranks throw an exception. On a rank that failed, the cause of the exception is the
     * rank's own failure.
     */
    List<JsonObjectFields> exchange(String what, Contribution own) {
        Map<String, Object> message = new LinkedHashMap<>();
        Throwable failure = null;
        begin(what);
        try {
            message.putAll(own.make());
            progress();
        } catch (Exception | Error failed) {
            failure = failed;
            message.clear();
            message.put(ERROR, error(failed));
        }
        end();
        message.put(HOST, host);
        String text = JsonCodec.text(message);
        List<JsonObjectFields> all = round(what, text);
        while (all.stream().anyMatch(one -> one.fields().containsKey(WORKING))) {
            all = round(what, text);
        }
        List<String> failed = all.stream()
                .filter(one -> one.fields().containsKey(ERROR))
                .map(one -> one.string(ERROR))
                .toList();
        if (!failed.isEmpty()) {
            throw new CheckpointException(what + " failed: " + MessageFormatter.of(failed), failure);
        }
        return all;
    }

    private synchronized void begin(String what) {
        movedAt = System.nanoTime();
        sentAt = movedAt;
        making = what;
    }

    private synchronized void end() {
        making = null;
    }

    /**
     * Records progress of this rank's message, and sends a short message about the progress once in a turn. A storage
     * may call this method on its own threads. Does nothing outside an exchange.
     *
     * @throws FerroException if the group has failed, or this rank has made no progress within the deadline
     */
    synchronized void progress() {
        String what = making;
        if (what == null) {
            return;
        }
        failure().ifPresent(failure -> {
            throw failure;
        });
        movedAt = System.nanoTime();
        if (movedAt - sentAt >= turnNanos) {
            making = null; // time in which this rank waits for other ranks does not count
            round(what, JsonCodec.text(Map.of(HOST, host, WORKING, what)));
            begin(what);
        }
    }

    /**
     * Returns why the group has failed. If this rank has made no progress within the deadline, this method aborts the
     * group. Thread-safe. Never waits.
     */
    Optional<FerroException> failure() {
        long now = System.nanoTime();
        String what = making;
        long idleNanos = now - movedAt;
        if (what != null && idleNanos >= deadlineNanos) {
            group.abort(
                    new CheckpointException(what + " failed: " + origin() + " or its storage has made no progress for "
                            + idleNanos / NANOS_PER_MILLI
                            + " ms, need progress within " + deadlineNanos / NANOS_PER_MILLI
                            + " ms: check the storage there, or set a longer CheckpointSettings.withDeadline"));
        }
        return group.failure();
    }

    void abort(Throwable cause) {
        group.abort(cause);
    }

    private List<JsonObjectFields> round(String what, String own) {
        List<JsonObjectFields> all = new ArrayList<>();
        for (String text : allGather(what, own)) {
            all.add(JsonCodec.read("message of rank " + all.size(), text));
        }
        return all;
    }

    /**
     * A storage that reports each call, and each written block of a file, as progress. The report comes before a call
     * and never after the call, because a report may throw an exception of other ranks. After a successful call, an
     * exception of other ranks would look like a failure of the call.
     */
    static final class ReportingStorage implements CheckpointStorage {
        private final CheckpointStorage storage;
        /** Reports progress before each call and each block. The action may throw an exception. */
        volatile Runnable progress = () -> {};

        ReportingStorage(CheckpointStorage storage) {
            this.storage = storage;
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            progress.run();
            storage.write(
                    name,
                    to -> content.writeTo(new WritableByteChannel() {
                        @Override
                        public int write(ByteBuffer bytes) throws IOException {
                            progress.run();
                            return to.write(bytes);
                        }

                        @Override
                        public boolean isOpen() {
                            return to.isOpen();
                        }

                        @Override
                        public void close() throws IOException {
                            to.close();
                        }
                    }));
        }

        @Override
        public int read(String name, long offset, ByteBuffer into) throws IOException {
            progress.run();
            return storage.read(name, offset, into);
        }

        @Override
        public List<StoredObject> list(String prefix) throws IOException {
            progress.run();
            return storage.list(prefix);
        }

        @Override
        public void publish(String name, byte[] content) throws IOException {
            progress.run();
            storage.publish(name, content);
        }

        @Override
        public void delete(String name) throws IOException {
            progress.run();
            storage.delete(name);
        }

        @Override
        public String toString() {
            return storage.toString();
        }
    }

    private String error(Throwable failure) {
        String text = failure instanceof CheckpointException ? failure.getMessage() : MessageFormatter.of(failure);
        return text.startsWith(origin()) ? text : origin() + ": " + text;
    }

    static String hostOf(JsonObjectFields message) {
        return message.string(HOST);
    }

    private List<String> allGather(String what, String own) {
        try {
            return texts.allGather(own);
        } catch (IllegalArgumentException refused) {
            throw new CheckpointException(what + " failed: " + refused.getMessage(), refused);
        } catch (FerroException failure) {
            if (failure.code() != FerroException.Code.TIMED_OUT) {
                throw failure;
            }
            throw new FerroException(
                    failure.code(),
                    failure.where(),
                    what + " failed, because a rank or its storage has made no progress within "
                            + deadlineNanos / NANOS_PER_MILLI + " ms: " + failure.getMessage(),
                    failure);
        }
    }
}
