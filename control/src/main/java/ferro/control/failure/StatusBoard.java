package ferro.control.failure;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** The last answer of each rank of a group that has answered, and the question that it answers; thread-safe. */
public final class StatusBoard {
    private final int self;
    private final int worldSize;
    private final Map<Integer, LastAnswer> answers = new HashMap<>();
    private long asks;

    /** The last answer of a rank, and the last question that this rank has answered. */
    private record LastAnswer(Status status, long ask) {
        private static final LastAnswer NONE = new LastAnswer(null, 0);
    }

    /** Has no answers yet. */
    public StatusBoard(int self, int worldSize) {
        this.self = self;
        this.worldSize = worldSize;
    }

    /** Returns the number of a new question to all. */
    public synchronized long ask() {
        return ++asks;
    }

    /** Keeps the last answer of a rank. */
    public synchronized void answered(int peer, Status status) {
        LastAnswer before = of(peer);
        answers.put(
                peer, new LastAnswer(status.after(before.status), Math.max(before.ask, Math.min(asks, status.ask()))));
    }

    /** Records that a rank has left: this is its answer to every question from now on. */
    public synchronized void left(int peer, Status last) {
        answers.put(peer, new LastAnswer(last, Long.MAX_VALUE));
    }

    private LastAnswer of(int peer) {
        return answers.getOrDefault(peer, LastAnswer.NONE);
    }

    /** Returns whether a rank has answered a question or a later one. */
    public synchronized boolean hasAnswered(int peer, long ask) {
        return peer == self || of(peer).ask >= ask;
    }

    /** Returns the ranks that have answered neither a question nor a later one. */
    public synchronized BitSet silentTo(long ask) {
        BitSet silent = new BitSet();
        for (int rank = 0; rank < worldSize; rank++) {
            silent.set(rank, rank != self && of(rank).ask < ask);
        }
        return silent;
    }

    /** Returns the last answers; null for a rank that has answered neither a question nor a later one. */
    public synchronized Status[] answers(long ask) {
        Status[] current = new Status[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            current[rank] = rank == self || of(rank).ask >= ask ? of(rank).status : null;
        }
        return current;
    }

    /** Returns the ranks that have not reported, in answer to any question, that they have called an operation. */
    public synchronized BitSet missingAt(long sequence) {
        BitSet missing = new BitSet();
        for (int rank = 0; rank < worldSize; rank++) {
            Status last = of(rank).status;
            missing.set(rank, rank != self && (last == null || last.sequence() < sequence));
        }
        return missing;
    }
}
