package ferro.backend.nccl;

import ferro.Store;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Who has left a group, as a log in the store: entry n is that of the rank that was the n-th to go. So whoever looks reads one
 * key where nobody has left, and waits for one key to come.
 *
 * <p>Any thread may use it; none waits for the store of another.
 */
final class Goodbyes {
    private final Store store;
    private final String base;
    private final CommPlace place;
    private final List<Goodbye> known = new ArrayList<>();
    private long read;

    /**
     * Opens the log of a group.
     *
     * @param store where
     * @param base  start of the keys of this group alone
     * @param place own rank
     */
    Goodbyes(Store store, String base, CommPlace place) {
        this.store = store;
        this.base = base;
        this.place = place;
    }

    /** Adds the own one; no entry is ever skipped, whoever dies meanwhile. */
    void say(Goodbye own) {
        byte[] mine = own.encoded();
        while (true) {
            long next = read() + 1;
            byte[] there = store.compareAndSet(key(next), null, mine);
            take(next, there);
            if (Arrays.equals(there, mine)) {
                return;
            }
        }
    }

    /** Reads what has come since the last look. */
    void look() {
        while (!complete()) {
            long next = read() + 1;
            byte[] there = GroupNotes.peek(store, key(next));
            if (there == null) {
                return;
            }
            take(next, there);
        }
    }

    /** Returns the key that comes with the next goodbye. */
    String nextKey() {
        return key(read() + 1);
    }

    private String key(long entry) {
        return base + "/left/" + entry;
    }

    private synchronized long read() {
        return read;
    }

    private synchronized void take(long entry, byte[] bytes) {
        if (entry == read + 1) {
            read = entry;
            Goodbye.decoded(bytes, place.worldSize()).ifPresent(known::add);
        }
    }

    /** Returns whether every rank has said it, as far as was read. */
    synchronized boolean complete() {
        return read >= place.worldSize();
    }

    /** Returns the goodbye of a rank, as far as was read. */
    synchronized Optional<Goodbye> of(int rank) {
        return known.stream().filter(one -> one.rank() == rank).findFirst();
    }

    /** Returns whether all ranks but these have said it, as far as was read. */
    boolean completeBut(List<Integer> ranks) {
        for (int rank = 0; rank < place.worldSize(); rank++) {
            if (!ranks.contains(rank) && of(rank).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** Returns why an operation cannot end any more: the first rank to go that has not made it; empty while it can. */
    synchronized Optional<GroupFailure> failureOf(NcclWork work) {
        return known.stream()
                .filter(one -> one.rank() != place.rank() && !one.covers(work, place.rank()))
                .findFirst()
                .map(one -> one.failureOf(work, place.rank()));
    }
}
