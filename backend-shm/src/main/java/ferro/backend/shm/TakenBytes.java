package ferro.backend.shm;

import ferro.spi.SegmentSize;
import java.nio.ByteBuffer;

/** What one segment takes of the budget of its rank, until it is given back. Thread-safe. */
final class TakenBytes {
    private final Budget budget;
    private final long bytes;
    private final Runnable afterwards;
    private Budget.Lent lent;
    private boolean isGivenBack;
    /** Bytes of them that memory is reserved for later. */
    private long later;

    /**
     * Notes bytes that the budget has counted already.
     *
     * @param afterwards runs once, when they are given back
     */
    TakenBytes(Budget budget, long bytes, Runnable afterwards) {
        this.budget = budget;
        this.bytes = bytes;
        this.afterwards = afterwards;
    }

    /**
     * Promises that memory is reserved later for a part of them.
     *
     * @return bytes that the ranks of this host may still reserve, if each has promised as much as this one
     */
    synchronized long promise(SegmentSize size) {
        later = size.later();
        budget.promise(later);
        return budget.promisedByAll(size.ranks());
    }

    /** Notes that memory is reserved for some of that part. */
    synchronized void reserved(long part) {
        if (!isGivenBack) {
            later -= part;
            budget.promise(-part);
        }
    }

    /** Makes them count until nobody can reach a buffer, or {@link #giveBack}. */
    synchronized void lend(ByteBuffer buffer) {
        lent = budget.lend(buffer, this);
    }

    /** Returns how many they are. */
    long bytes() {
        return bytes;
    }

    /** Gives them back unless a buffer was lent. */
    void close() {
        synchronized (this) {
            if (lent != null) {
                return;
            }
        }
        giveBack();
    }

    /** Gives them back; idempotent. */
    void giveBack() {
        synchronized (this) {
            if (isGivenBack) {
                return;
            }
            isGivenBack = true;
            budget.promise(-later);
            budget.giveBack(bytes, lent != null);
        }
        afterwards.run();
    }
}
