package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.collectives.control.failure.ControlMessage;
import ferro.collectives.control.failure.ControlMessage.Abort;
import ferro.collectives.control.failure.ControlMessage.Agree;
import ferro.collectives.control.failure.ControlMessage.Called;
import ferro.collectives.control.failure.ControlMessage.Cancel;
import ferro.collectives.control.failure.ControlMessage.Goodbye;
import ferro.collectives.control.failure.ControlMessage.Heard;
import ferro.collectives.control.failure.ControlMessage.Query;
import ferro.collectives.control.failure.Failure;
import ferro.collectives.control.failure.Status;
import ferro.collectives.control.failure.StatusBoard;
import java.nio.ByteBuffer;

/** Decodes the control messages of a group and passes each to the object that handles it. */
final class ControlInbox implements ControlMessage.Handler {
    private final GroupControl control;
    private final int worldSize;
    private final GracefulExits leaves;
    private final StatusBoard board;
    private final Mismatches mismatches;

    ControlInbox(GroupControl control, int worldSize, GracefulExits leaves, StatusBoard board, Mismatches mismatches) {
        this.control = control;
        this.worldSize = worldSize;
        this.leaves = leaves;
        this.board = board;
        this.mismatches = mismatches;
    }

    /**
     * Handles a message. An invalid message fails the group and blames its sender; an error in this method blames this
     * rank.
     */
    void read(int peer, ByteBuffer message) {
        try {
            ControlMessage.decode(message, worldSize).accept(peer, this);
        } catch (IllegalArgumentException nonsense) {
            String text = "rank " + peer + " sent a control message that makes no sense: " + nonsense.getMessage();
            control.fail(new Failure(Code.PROTOCOL, control.self(), -1, Integer.toString(peer), text, nonsense));
        } catch (RuntimeException | Error broken) {
            // an exception passed on would end the connection to a rank that has done nothing wrong
            Code code = broken instanceof OutOfMemoryError ? Code.RESOURCE : Code.ABORTED;
            String self = Integer.toString(control.self());
            String text = "rank " + self + " failed inside, over a control message of rank " + peer + ": " + broken;
            control.fail(new Failure(code, control.self(), -1, self, text, broken));
        }
    }

    @Override
    public void abort(int peer, Abort said) {
        control.told(peer, said);
    }

    @Override
    public void goodbye(int peer, Goodbye said) {
        control.left(peer, said);
    }

    @Override
    public void heard(int peer, Heard said) {
        leaves.heard(peer, said);
    }

    @Override
    public void query(int peer, Query said) {
        control.answer(peer, said.ask(), said.sequence());
        mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
    }

    @Override
    public void status(int peer, Status said) {
        board.answered(peer, said);
        mismatches.heard(peer, said.asked(), said.fingerprint(), said.call());
    }

    @Override
    public void agree(int peer, Agree said) {
        control.agreement().heard(peer, said);
    }

    @Override
    public void cancel(int peer, Cancel said) {
        control.agreement().cancelled(peer, said);
    }

    @Override
    public void called(int peer, Called said) {
        mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
    }
}
