package ferro.control.failure;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** The last answer of each rank of a group, with the number of the question that the rank answered. Thread-safe. */
public final class AnswerTable {
    private final int self;
    private final int worldSize;
    private final Map<Integer, LastAnswer> answers = new HashMap<>();
    private long asks;

    /** The last answer of a rank, and the last question that the rank has answered. */
    private record LastAnswer(StatusAnswer status, long ask) {
        private static final LastAnswer NONE = new LastAnswer(null, 0);
    }

    /** Creates a board that has no answers yet. */
    public AnswerTable(int self, int worldSize) {
        this.self = self;
        this.worldSize = worldSize;
    }

    /** Returns the number of a new question to all ranks. */
    public synchronized long ask() {
        return ++asks;
    }

    /** Stores the last answer of a rank. */
    public synchronized void answered(int peer, StatusAnswer status) {
        LastAnswer before = of(peer);
        answers.put(
                peer, new LastAnswer(status.after(before.status), Math.max(before.ask, Math.min(asks, status.ask()))));
    }

    /** Records that a rank has left. From now on, the given status is the answer of that rank to every question. */
    public synchronized void left(int peer, StatusAnswer last) {
        answers.put(peer, new LastAnswer(last, Long.MAX_VALUE));
    }

    private LastAnswer of(int peer) {
        return answers.getOrDefault(peer, LastAnswer.NONE);
    }

    /** Returns whether a rank has answered the given question or a later question. */
    public synchronized boolean hasAnswered(int peer, long ask) {
        return peer == self || of(peer).ask >= ask;
    }

    /** Returns the ranks that have answered neither the given question nor a later question. */
    public synchronized BitSet silentTo(long ask) {
        BitSet silent = new BitSet();
        for (int rank = 0; rank < worldSize; rank++) {
            silent.set(rank, rank != self && of(rank).ask < ask);
        }
        return silent;
    }

    /** Returns the last answer of each rank; null if the rank has answered neither this question nor a later one. */
    public synchronized StatusAnswer[] answers(long ask) {
        StatusAnswer[] current = new StatusAnswer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            current[rank] = rank == self || of(rank).ask >= ask ? of(rank).status : null;
        }
        return current;
    }

    /** Returns the ranks that have not reported a call of the given operation in any answer. */
    public synchronized BitSet missingAt(long sequence) {
        BitSet missing = new BitSet();
        for (int rank = 0; rank < worldSize; rank++) {
            StatusAnswer last = of(rank).status;
            missing.set(rank, rank != self && (last == null || last.sequence() < sequence));
        }
        return missing;
    }
}
