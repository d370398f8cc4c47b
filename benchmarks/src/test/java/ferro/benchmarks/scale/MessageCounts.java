package ferro.benchmarks.scale;

import ferro.backend.simulated.CountedRanks;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** The control messages that ranks have sent since a moment, by rank and by kind. */
final class MessageCounts implements CountedRanks.Counter {
    /** Kinds of messages, docs/wire-protocol.md. */
    static final int ABORT = 1;

    static final int QUERY = 4;

    private static final int KINDS = 256;

    private final AtomicLongArray ofRank;
    private final AtomicLongArray ofGroups = new AtomicLongArray(KINDS);
    private final AtomicLong ofMembership = new AtomicLong();

    MessageCounts(int ranks) {
        ofRank = new AtomicLongArray(ranks);
    }

    @Override
    public void sent(int rank, int kind, boolean isMembership) {
        ofRank.incrementAndGet(rank);
        if (isMembership) {
            ofMembership.incrementAndGet();
        } else {
            ofGroups.incrementAndGet(kind);
        }
    }

    void restart() {
        clear(ofRank);
        clear(ofGroups);
        ofMembership.set(0);
    }

    private static void clear(AtomicLongArray counts) {
        for (int i = 0; i < counts.length(); i++) {
            counts.set(i, 0);
        }
    }

    long ofGroups(int kind) {
        return ofGroups.get(kind);
    }

    /** Returns the heartbeats and other messages of the membership, which all groups of a rank share. */
    long ofMembership() {
        return ofMembership.get();
    }

    void print(String what) {
        long all = IntStream.range(0, ofRank.length()).mapToLong(ofRank::get).sum();
        long max =
                IntStream.range(0, ofRank.length()).mapToLong(ofRank::get).max().orElse(0);
        Meter.print("messages " + what + ", per rank", (double) all / ofRank.length(), "messages");
        Meter.print("messages " + what + ", most of a rank", max, "messages");
    }
}
