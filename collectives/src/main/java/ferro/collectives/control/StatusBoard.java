package ferro.collectives.control;

import java.util.BitSet;

/** What the ranks of a group have answered last, and to which question; thread-safe. */
final class StatusBoard {
    private final int self;
    private final Status[] answers;
    private final long[] answered;
    private long asks;

    StatusBoard(int self, int worldSize) {
        this.self = self;
        this.answers = new Status[worldSize];
        this.answered = new long[worldSize];
    }

    /** Numbers a question to all. */
    synchronized long ask() {
        return ++asks;
    }

    synchronized void answered(int peer, Status status) {
        answers[peer] = status;
        answered[peer] = Math.max(answered[peer], Math.min(asks, status.ask()));
    }

    /** A rank has left: that is its answer to whatever it is asked from now on. */
    synchronized void left(int peer, Status last) {
        answers[peer] = last;
        answered[peer] = Long.MAX_VALUE;
    }

    /** Returns the ranks that have not answered a question, nor a later one. */
    synchronized BitSet silentTo(long ask) {
        BitSet silent = new BitSet();
        for (int rank = 0; rank < answered.length; rank++) {
            if (rank != self && answered[rank] < ask) {
                silent.set(rank);
            }
        }
        return silent;
    }

    /** Returns the last answers; null for a rank that has answered neither a question nor a later one. */
    synchronized Status[] answers(long ask) {
        Status[] current = answers.clone();
        silentTo(ask).stream().forEach(rank -> current[rank] = null);
        return current;
    }

    /** Returns the ranks that have not said, to whatever question, that they have called an operation. */
    synchronized BitSet missingAt(long sequence) {
        BitSet missing = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            missing.set(rank, rank != self && (answers[rank] == null || answers[rank].sequence() < sequence));
        }
        return missing;
    }
}
