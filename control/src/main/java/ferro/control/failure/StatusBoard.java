package ferro.control.failure;

import java.util.BitSet;

/** The last answer of each rank of a group, and the question that it answers; thread-safe. */
public final class StatusBoard {
    private final int self;
    private final Status[] answers;
    private final long[] answered;
    private long asks;

    /** Has no answers yet. */
    public StatusBoard(int self, int worldSize) {
        this.self = self;
        this.answers = new Status[worldSize];
        this.answered = new long[worldSize];
    }

    /** Returns the number of a new question to all. */
    public synchronized long ask() {
        return ++asks;
    }

    /** Keeps the last answer of a rank. */
    public synchronized void answered(int peer, Status status) {
        answers[peer] = status.after(answers[peer]);
        answered[peer] = Math.max(answered[peer], Math.min(asks, status.ask()));
    }

    /** Records that a rank has left: this is its answer to every question from now on. */
    public synchronized void left(int peer, Status last) {
        answers[peer] = last;
        answered[peer] = Long.MAX_VALUE;
    }

    /** Returns the ranks that have answered neither a question nor a later one. */
    public synchronized BitSet silentTo(long ask) {
        BitSet silent = new BitSet();
        for (int rank = 0; rank < answered.length; rank++) {
            if (rank != self && answered[rank] < ask) {
                silent.set(rank);
            }
        }
        return silent;
    }

    /** Returns the last answers; null for a rank that has answered neither a question nor a later one. */
    public synchronized Status[] answers(long ask) {
        Status[] current = answers.clone();
        silentTo(ask).stream().forEach(rank -> current[rank] = null);
        return current;
    }

    /** Returns the ranks that have not reported, in answer to any question, that they have called an operation. */
    public synchronized BitSet missingAt(long sequence) {
        BitSet missing = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            missing.set(rank, rank != self && (answers[rank] == null || answers[rank].sequence() < sequence));
        }
        return missing;
    }
}
