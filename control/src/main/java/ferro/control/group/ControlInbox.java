package ferro.control.group;

import ferro.FerroException.Code;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Agree;
import ferro.control.failure.ControlMessage.Called;
import ferro.control.failure.ControlMessage.Cancel;
import ferro.control.failure.ControlMessage.Follow;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.Heard;
import ferro.control.failure.ControlMessage.Left;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.ControlMessage.Suspect;
import ferro.control.failure.Failure;
import ferro.control.failure.GoAhead;
import ferro.control.failure.Status;
import ferro.control.failure.StatusBoard;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.util.Set;

/** Decodes the control messages of a group and passes each to the object that handles it. */
final class ControlInbox {
    private final GroupSpec group;
    private final AgreedFailure failure;
    private final PeerFailures peerFailures;
    private final Deaths deaths;
    private final GracefulExits exits;
    private final StatusBoard board;
    private final Mismatches mismatches;
    private final SubgroupAgreement agreement;
    private final ControlSender sender;
    private final StatusResponder responder;
    private final ControlOwner owner;
    private final Departure departure;

    /**
     * Those that handle the messages.
     *
     * @param failure       hears what others tell of it
     * @param peerFailures  hears which ranks have told of a failure
     * @param deaths        judges lost ranks
     * @param exits         hears who leaves
     * @param board         keeps answers
     * @param mismatches    hears of calls
     * @param agreement     hears of new groups
     * @param sender        sends answers
     * @param responder     makes answers
     * @param owner         has the messages between ranks
     */
    record Handlers(
            AgreedFailure failure,
            PeerFailures peerFailures,
            Deaths deaths,
            GracefulExits exits,
            StatusBoard board,
            Mismatches mismatches,
            SubgroupAgreement agreement,
            ControlSender sender,
            StatusResponder responder,
            ControlOwner owner) {}

    /** What becomes of this rank when another leaves. */
    interface Departure {
        /** Returns whether this rank has left too. */
        boolean hasLeft();

        /** Wakes whoever waits for the rank that left. */
        void wake();
    }

    ControlInbox(GroupSpec group, Handlers handlers, Departure departure) {
        this.group = group;
        this.failure = handlers.failure;
        this.peerFailures = handlers.peerFailures;
        this.deaths = handlers.deaths;
        this.exits = handlers.exits;
        this.board = handlers.board;
        this.mismatches = handlers.mismatches;
        this.agreement = handlers.agreement;
        this.sender = handlers.sender;
        this.responder = handlers.responder;
        this.owner = handlers.owner;
        this.departure = departure;
    }

    /**
     * Handles a message. An invalid message fails the group and blames its sender; an error in this method blames this
     * rank.
     */
    void read(int peer, ByteBuffer message) {
        try {
            handle(peer, ControlMessage.decode(message, group.worldSize()));
        } catch (IllegalArgumentException nonsense) {
            String text = peerFailures.named(peer) + " sent an invalid control message: " + nonsense.getMessage();
            failure.fail(new Failure(Code.PROTOCOL, group.rank(), -1, Set.of(peer), text, nonsense));
        } catch (RuntimeException | Error broken) {
            // an exception passed on would end the connection to a rank that has done nothing wrong
            Code code = broken instanceof OutOfMemoryError ? Code.RESOURCE : Code.ABORTED;
            int self = group.rank();
            String text = peerFailures.named(self) + " failed while it handled a control message of "
                    + peerFailures.named(peer) + ": " + broken;
            failure.fail(new Failure(code, self, -1, Set.of(self), text, broken));
        }
    }

    private void handle(int peer, ControlMessage message) {
        if (message instanceof Abort said) {
            peerFailures.toldAbort(peer);
            failure.heard(said);
        } else if (message instanceof Goodbye said) {
            goodbye(peer, said);
        } else if (message instanceof Heard said) {
            exits.heard(peer, said);
        } else if (message instanceof Query said) {
            query(peer, said);
        } else if (message instanceof Status said) {
            board.answered(peer, said);
            mismatches.answered(peer, said);
        } else if (message instanceof Agree said) {
            agreement.heard(peer, said);
            // the attempt comes first: a rank that leaves says goodbye to the ranks whose attempts it knows
            exits.answer(peer);
        } else if (message instanceof Cancel said) {
            agreement.cancelled(peer, said);
        } else if (message instanceof Called said) {
            mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
        } else if (message instanceof Left said) {
            if (exits.lower(said)) {
                left(said);
            }
        } else if (message instanceof Follow) {
            // the sender has to be told when this rank leaves
            failure.tell(peer);
            exits.followedBy(peer);
        } else if (message instanceof Suspect said) {
            suspect(peer, said);
        } else if (message instanceof GoAhead said) {
            owner.goAhead(peer, said.announcement());
        } else {
            throw new IllegalStateException("no case for " + message);
        }
    }

    private void goodbye(int peer, Goodbye said) {
        exits.left(peer, said);
        if (!sender.isSmall() && !peerFailures.hasToldAbort(peer)) {
            // it was taken for gone, or is no neighbour, when this rank sent the failure, and may wait for this rank
            failure.tell(peer);
        }
        left(said.of(peer));
    }

    private void left(Left leaver) {
        board.left(leaver.rank(), Status.left(leaver.lastSequence(), leaver.call()));
        if (exits.differs(leaver) && departure.hasLeft()) {
            mismatches.settleNow();
        }
        departure.wake();
    }

    private void suspect(int peer, Suspect said) {
        failure.tell(peer);
        // another rank judges if this one leaves before it has judged
        exits.followedBy(peer);
        if (!departure.hasLeft()) {
            deaths.reported(said.loss());
        }
    }

    private void query(int peer, Query said) {
        // the rank that asks may have missed the failure: it was told before that rank had made the group
        failure.tell(peer);
        exits.answer(peer);
        sender.tell(
                peer,
                said.lines() > 0
                        ? responder.statusWithLine(said.ask(), said.sequence())
                        : responder.status(said.ask(), said.sequence()));
        mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
    }
}
