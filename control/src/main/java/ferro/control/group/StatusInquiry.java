package ferro.control.group;

import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Machines;
import ferro.control.failure.StatusBoard;
import ferro.spi.CallHeader;
import java.util.BitSet;

/** Asks the other ranks for their state, and judges by their answers; thread-safe, and never waits. */
final class StatusInquiry {
    private final ControlSender sender;
    private final StatusBoard board;
    private final Machines machines;
    private final ControlOwner owner;
    private final Runnable beforeAsking;

    /** Makes one; {@code beforeAsking} compares the calls of ranks that have left, whose goodbye is their answer. */
    StatusInquiry(
            ControlSender sender, StatusBoard board, Machines machines, ControlOwner owner, Runnable beforeAsking) {
        this.sender = sender;
        this.board = board;
        this.machines = machines;
        this.owner = owner;
        this.beforeAsking = beforeAsking;
    }

    /** Returns the names of the ranks of this group. */
    Machines machines() {
        return machines;
    }

    /** Asks all ranks for their state, and about an operation, or null; returns the number of the question. */
    long ask(CallHeader call) {
        return ask(call, false);
    }

    /** Asks as {@link #ask(CallHeader)}, and for the line of the program that each rank executes. */
    long askForLines(CallHeader call) {
        return ask(call, true);
    }

    /**
     * Asks some ranks for their state, and about an operation, or null; returns the number of the question. In a small
     * group all ranks are asked, so that each rank finds every other call soon.
     */
    long ask(CallHeader call, BitSet ranks) {
        if (sender.isSmall()) {
            return ask(call);
        }
        beforeAsking.run();
        long ask = board.ask();
        sender.send(ranks, Query.about(ask, call, false));
        return ask;
    }

    private long ask(CallHeader call, boolean withLines) {
        beforeAsking.run();
        long ask = board.ask();
        sender.tellAll(Query.about(ask, call, withLines));
        return ask;
    }

    /** Asks some ranks again about an operation, and for the lines of their programs. */
    void askForLines(CallHeader call, BitSet ranks) {
        sender.send(ranks, Query.about(board.ask(), call, true));
    }

    /** Returns the ranks that have answered neither a question nor a later one. */
    BitSet silentTo(long ask) {
        return board.silentTo(ask);
    }

    boolean hasAnswered(int peer, long ask) {
        return board.hasAnswered(peer, ask);
    }

    /** Returns whether any of these ranks, or of all if the set is null, has not answered. */
    boolean isAnySilent(long ask, BitSet among) {
        BitSet silent = board.silentTo(ask);
        if (among != null) {
            silent.and(among);
        }
        return !silent.isEmpty();
    }

    /** Makes a diagnosis from the answers to an early question; a rank that has not answered the last may be slow. */
    Diagnosis diagnosis(long early, long last, long sequence) {
        return new Diagnosis(machines, board.answers(early), board.silentTo(last), sequence);
    }

    /** Returns how long this process stood still since a time. */
    long pausedSince(long sinceNanos) {
        return owner.pausedSince(sinceNanos);
    }
}
