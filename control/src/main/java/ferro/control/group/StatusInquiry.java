package ferro.control.group;

import ferro.control.failure.AnswerTable;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Machines;
import ferro.spi.CallHeader;
import java.util.BitSet;

/** The questions to other ranks about their state, and the diagnosis from their answers. Thread-safe; never waits. */
final class StatusInquiry {
    private final ControlSender sender;
    private final AnswerTable board;
    private final Machines machines;
    private final ControlledGroup owner;
    private final Runnable beforeAsking;

    /** Creates an inquiry. Before each question, {@code beforeAsking} compares the calls of ranks that have left. */
    StatusInquiry(
            ControlSender sender, AnswerTable board, Machines machines, ControlledGroup owner, Runnable beforeAsking) {
        this.sender = sender;
        this.board = board;
        this.machines = machines;
        this.owner = owner;
        this.beforeAsking = beforeAsking;
    }

    /** Returns the machines of the ranks of this group. The machines also give the names of ranks for texts. */
    Machines machines() {
        return machines;
    }

    /** Asks all ranks for their state and about a call, which may be null. Returns the number of the question. */
    long ask(CallHeader call) {
        return ask(call, false);
    }

    /** Asks as {@link #ask(CallHeader)} does, and also for the line of the program that each rank executes. */
    long askForLines(CallHeader call) {
        return ask(call, true);
    }

    /**
     * Asks some ranks for their state and about a call, which may be null. Returns the number of the question. In a
     * small group all ranks are asked, so that each rank soon finds every call that differs.
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

    /** Asks some ranks again about a call, and for the lines of their programs. */
    void askForLines(CallHeader call, BitSet ranks) {
        sender.send(ranks, Query.about(board.ask(), call, true));
    }

    /** Returns the ranks that have answered neither the given question nor a later question. */
    BitSet silentTo(long ask) {
        return board.silentTo(ask);
    }

    boolean hasAnswered(int peer, long ask) {
        return board.hasAnswered(peer, ask);
    }

    /** Returns whether any of the given ranks has not answered. A null set stands for all ranks. */
    boolean isAnySilent(long ask, BitSet among) {
        BitSet silent = board.silentTo(ask);
        if (among != null) {
            silent.and(among);
        }
        return !silent.isEmpty();
    }

    /**
     * Creates a diagnosis from the answers to the question {@code early} or to later questions. A rank without an
     * answer to the question {@code last} may be slow.
     */
    Diagnosis diagnosis(long early, long last, long sequence) {
        return new Diagnosis(machines, board.answers(early), board.silentTo(last), sequence);
    }

    /** Returns for how many nanoseconds this process was paused since a time of the context's clock. */
    long pausedSince(long sinceNanos) {
        return owner.pausedSince(sinceNanos);
    }
}
