package ferro.backend.nccl.queue;

import ferro.Store;
import ferro.control.failure.Failure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Log in the store of the ranks that have left a group. Entry n belongs to the n-th rank that left. So while no rank
 * has left, a reader reads one key and waits for one key.
 *
 * <p>Any thread may use it. No thread waits for the store call of another one.
 */
public final class LeaveLog {
    private final Store store;
    private final String base;
    private final CommIdentity identity;
    private final List<LeaveRecord> known = new ArrayList<>();
    private long read;

    /**
     * Opens the log of a group.
     *
     * @param store store of the log
     * @param base  prefix of the keys of this group alone
     * @param identity own rank
     */
    LeaveLog(Store store, String base, CommIdentity identity) {
        this.store = store;
        this.base = base;
        this.identity = identity;
    }

    /** Adds the own record. No entry is ever skipped, even if a rank dies meanwhile. */
    void say(LeaveRecord own) {
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

    /** Reads the records that were written since the last call. */
    public void look() {
        while (!complete()) {
            long next = read() + 1;
            byte[] there = FailureRecords.peek(store, key(next));
            if (there == null) {
                return;
            }
            take(next, there);
        }
    }

    /** Returns the key that the next goodbye will have. */
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
            LeaveRecord.decoded(bytes, identity.worldSize()).ifPresent(known::add);
        }
    }

    /** Returns whether every rank has said goodbye, as far as the log was read. */
    public synchronized boolean complete() {
        return read >= identity.worldSize();
    }

    /** Returns the goodbye of a rank, as far as the log was read. */
    public synchronized Optional<LeaveRecord> of(int rank) {
        return known.stream().filter(one -> one.rank() == rank).findFirst();
    }

    /** Returns whether all ranks but these have said goodbye, as far as the log was read. */
    public boolean completeBut(List<Integer> ranks) {
        for (int rank = 0; rank < identity.worldSize(); rank++) {
            if (!ranks.contains(rank) && of(rank).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns why an operation cannot end any more: the first rank to leave that has not made it. Empty while it can
     * end.
     */
    synchronized Optional<Failure> failureOf(NcclWork work) {
        return known.stream()
                .filter(one -> one.rank() != identity.rank() && !one.covers(work, identity.rank()))
                .findFirst()
                .map(one -> one.failureOf(work, identity));
    }
}
