package ferro.backend.nccl.comm;

import ferro.Store;
import ferro.backend.nccl.queue.FailureRecords;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * The {@code newGroup} calls of one rank (the writer), as another rank (the reader) reads them in the store. Only the
 * calls that include the reader matter to it. The k-th of these matches the reader's own k-th call that includes the
 * writer.
 *
 * <p>Any thread may read. No thread waits for the store call of another one.
 */
final class SubgroupLog {
    private static final String NO_ID = "-";

    private final Store store;
    private final String base;
    private final int reader;
    private final List<LoggedCall> found = new ArrayList<>();
    private long calls;
    private long read;

    /**
     * One call.
     *
     * @param key   its key; more keys of the call are below it
     * @param ranks members, in the order of the new group
     * @param id    of the communicator, from the first member only, else null
     */
    record LoggedCall(String key, int[] ranks, byte[] id) {
        byte[] encoded() {
            StringBuilder text = new StringBuilder();
            for (int rank : ranks) {
                text.append(rank).append(',');
            }
            text.append('\n').append(id == null ? NO_ID : Base64.getEncoder().encodeToString(id));
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }

        static LoggedCall decoded(String key, byte[] bytes) {
            String[] fields = new String(bytes, StandardCharsets.UTF_8).split("\n");
            int[] ranks = Arrays.stream(fields[0].split(","))
                    .mapToInt(Integer::parseInt)
                    .toArray();
            return new LoggedCall(
                    key,
                    ranks,
                    fields[1].equals(NO_ID) ? null : Base64.getDecoder().decode(fields[1]));
        }

        boolean includes(int rank) {
            return Arrays.stream(ranks).anyMatch(one -> one == rank);
        }

        boolean sameAs(int[] others) {
            return Arrays.equals(ranks, others);
        }

        /** Returns the members, never the id. */
        @Override
        public String toString() {
            return Arrays.toString(ranks);
        }
    }

    /**
     * Opens the log of a rank.
     *
     * @param store  store of the log
     * @param base   prefix of its keys
     * @param reader rank that reads it
     */
    SubgroupLog(Store store, String base, int reader) {
        this.store = store;
        this.base = base;
        this.reader = reader;
    }

    String key(long call) {
        return base + "/" + call;
    }

    /** Counts one call of the reader that includes the writer. Returns its number, from 1. */
    synchronized long count() {
        return ++calls;
    }

    /** Returns the k-th call of the writer that includes the reader; null if it is not there yet. */
    LoggedCall entry(long which) {
        long next = firstUnread(which);
        while (next > 0) {
            // not under the lock: a store that does not answer would block the other threads
            byte[] bytes = FailureRecords.peek(store, key(next));
            if (bytes == null) {
                return null;
            }
            take(next, LoggedCall.decoded(key(next), bytes));
            next = firstUnread(which);
        }
        return found((int) which - 1);
    }

    /** Returns the number of the writer's call that must be read next; 0 if the requested one is known. */
    private synchronized long firstUnread(long which) {
        return found.size() < which ? read + 1 : 0;
    }

    private synchronized void take(long call, LoggedCall entry) {
        if (call != read + 1) {
            // another thread was faster
            return;
        }
        read = call;
        if (entry.includes(reader)) {
            found.add(entry);
        }
    }

    private synchronized LoggedCall found(int index) {
        return found.get(index);
    }
}
