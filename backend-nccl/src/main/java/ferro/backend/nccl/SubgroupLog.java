package ferro.backend.nccl;

import ferro.Store;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * What one rank has asked for by {@code newGroup}, call by call, as another rank reads it in the store: of the calls only
 * those that include the reader concern it, and the k-th of these is met by the reader's own k-th call that includes the
 * writer.
 *
 * <p>Any thread may read; none waits for the store of another.
 */
final class SubgroupLog {
    private static final String NO_ID = "-";

    private final Store store;
    private final String base;
    private final int reader;
    private final List<Entry> found = new ArrayList<>();
    private long calls;
    private long read;

    /**
     * One call.
     *
     * @param key   where it stands; more about it stands below
     * @param ranks members, in the order of the new group
     * @param id    of the communicator, from the first member only, else null
     */
    record Entry(String key, int[] ranks, byte[] id) {
        byte[] encoded() {
            StringBuilder text = new StringBuilder();
            for (int rank : ranks) {
                text.append(rank).append(',');
            }
            text.append('\n').append(id == null ? NO_ID : Base64.getEncoder().encodeToString(id));
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }

        static Entry decoded(String key, byte[] bytes) {
            String[] fields = new String(bytes, StandardCharsets.UTF_8).split("\n");
            int[] ranks = Arrays.stream(fields[0].split(","))
                    .mapToInt(Integer::parseInt)
                    .toArray();
            return new Entry(
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

        /** Says who and how many, never the id. */
        @Override
        public String toString() {
            return Arrays.toString(ranks);
        }
    }

    /**
     * Opens the log of a rank.
     *
     * @param store  where
     * @param base   start of its keys
     * @param reader who reads it
     */
    SubgroupLog(Store store, String base, int reader) {
        this.store = store;
        this.base = base;
        this.reader = reader;
    }

    String key(long call) {
        return base + "/" + call;
    }

    /** Counts one call of the reader that includes the writer; returns which one this is, from 1. */
    synchronized long count() {
        return ++calls;
    }

    /** Returns the k-th call of the writer that includes the reader; null if it is not there yet. */
    Entry entry(long which) {
        long next = firstUnread(which);
        while (next > 0) {
            // not under the lock: a store that does not answer would hold up the other threads
            byte[] bytes = GroupNotes.peek(store, key(next));
            if (bytes == null) {
                return null;
            }
            take(next, Entry.decoded(key(next), bytes));
            next = firstUnread(which);
        }
        return found((int) which - 1);
    }

    /** Returns which call of the writer must be read next; 0 if the one that is looked for is known. */
    private synchronized long firstUnread(long which) {
        return found.size() < which ? read + 1 : 0;
    }

    private synchronized void take(long call, Entry entry) {
        if (call != read + 1) {
            // another thread was quicker
            return;
        }
        read = call;
        if (entry.includes(reader)) {
            found.add(entry);
        }
    }

    private synchronized Entry found(int index) {
        return found.get(index);
    }
}
