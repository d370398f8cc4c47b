package ferro.control.failure;

import ferro.FerroException.Code;
import ferro.control.wire.FieldCodec;
import ferro.control.wire.FieldReader;
import ferro.control.wire.FieldWriter;
import ferro.control.wire.WireMessage;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A control message between two ranks of a group. The table of all control messages is in docs/wire-protocol.md. */
public sealed interface ControlMessage extends WireMessage
        permits ControlMessage.Abort,
                ControlMessage.Goodbye,
                ControlMessage.GoodbyeAck,
                ControlMessage.Query,
                StatusAnswer,
                ControlMessage.GroupProposal,
                ControlMessage.Cancellation,
                ControlMessage.LastCall,
                ControlMessage.LeaveReport,
                ControlMessage.GoodbyeRequest,
                ControlMessage.SuspectReport,
                GoAhead {
    /** The longest text that describes a call, in bytes: twice the limit for the text of a call. */
    int CALL_MOST = 512;

    /** The number of the last collective of a rank that has left without a goodbye to this rank. */
    long UNKNOWN = -1;

    Set<Code> CODES = Set.of(Code.values());

    /**
     * The message that the group has failed.
     *
     * @param ageMillis milliseconds since the first failure, according to the sender
     * @param dead      dead ranks according to the sender, as many as the message can hold. The receiver adds dead
     *     culprits to its lost ranks before a call fails, and other dead ranks later
     * @param failure   cause that the sender has merged so far
     */
    record Abort(int ageMillis, Set<Integer> dead, Failure failure) implements ControlMessage {
        static final byte KIND = 1;
        /** The longest list of dead ranks, in bytes. The rest of an abort message holds the failure. */
        static final int MAX_DEAD = 240;

        /** Cuts the list of dead ranks to the length that a message can hold. */
        public Abort {
            dead = FieldWriter.cutRanks(dead, MAX_DEAD);
        }

        /** Creates the message of a failure from its dead culprits and its age in nanoseconds. */
        public static Abort of(Failure failure, Set<Integer> dead, long ageNanos) {
            long age = Math.max(0, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(ageNanos)));
            return new Abort((int) age, dead, failure);
        }

        /** Returns the nanoseconds since the first failure, according to the sender. */
        public long ageNanos() {
            return TimeUnit.MILLISECONDS.toNanos(ageMillis);
        }

        @Override
        public Abort through(FieldCodec fields) {
            fields.kind(KIND);
            int age = fields.count("ageMillis", ageMillis);
            return new Abort(age, fields.ranks("dead", MAX_DEAD, dead), failure.through(fields));
        }
    }

    /**
     * The message that the sender leaves the group normally.
     *
     * @param lastSequence sequence of the last collective that the sender has called, 0 if none
     * @param sent         number of messages that the sender has sent to the receiver of this goodbye
     * @param taken        number of messages of the receiver that were delivered to the sender
     * @param fingerprint  fingerprint of the last collective, 0 if none
     * @param call         text of the last collective, for people
     * @param previous     nearest rank before the sender that has not left, according to the sender. All ranks between
     *     that rank and the sender have left
     * @param next         nearest rank after the sender that has not left, according to the sender. All ranks between
     *     the sender and that rank have left
     */
    record Goodbye(long lastSequence, long sent, long taken, long fingerprint, String call, int previous, int next)
            implements ControlMessage {
        static final byte KIND = 2;

        /** Creates a goodbye for a rank that closed without a goodbye and exchanged no message with this rank. */
        public static Goodbye unsaid(int rank) {
            return new Goodbye(UNKNOWN, 0, 0, 0, "", rank, rank);
        }

        /** Returns the leave of the sender, for ranks that are not its neighbours. */
        public LeaveReport of(int sender) {
            return new LeaveReport(sender, lastSequence, fingerprint, call);
        }

        @Override
        public Goodbye through(FieldCodec fields) {
            fields.kind(KIND);
            return new Goodbye(
                    fields.int64("lastSequence", lastSequence),
                    fields.int64("sent", sent),
                    fields.int64("taken", taken),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call),
                    fields.rank("previous", previous),
                    fields.rank("next", next));
        }
    }

    /**
     * The answer to a goodbye. A rank answers a goodbye at once, and again after it has received all data of the
     * leaving rank.
     *
     * @param ended   number of the last collective that has ended on the sender, 0 if none
     * @param arrived number of messages of the leaving rank that have arrived at the sender
     */
    record GoodbyeAck(long ended, long arrived) implements ControlMessage {
        static final byte KIND = 3;

        @Override
        public GoodbyeAck through(FieldCodec fields) {
            fields.kind(KIND);
            return new GoodbyeAck(fields.int64("ended", ended), fields.int64("arrived", arrived));
        }
    }

    /**
     * A question to a rank about its status and about one call.
     *
     * @param ask         number of the question
     * @param sequence    sequence number of the operation that the question is about, 0 for none
     * @param fingerprint fingerprint of the call that the sender has made with this sequence number, 0 for none
     * @param call        text of the sender's call
     * @param lines       1 if the answer has to contain a line of the program, for which the rank takes stacks;
     *     otherwise 0
     */
    record Query(long ask, long sequence, long fingerprint, String call, int lines) implements ControlMessage {
        static final byte KIND = 4;

        /** Creates a question about a rank's status and, if {@code call} is not null, about this call. */
        public static Query about(long ask, CallHeader call, boolean withLine) {
            int lines = withLine ? 1 : 0;
            return call == null
                    ? new Query(ask, 0, 0, "", lines)
                    : new Query(ask, call.sequence(), call.fingerprint(), call.text(), lines);
        }

        @Override
        public Query through(FieldCodec fields) {
            fields.kind(KIND);
            return new Query(
                    fields.int64("ask", ask),
                    fields.int64("sequence", sequence),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call),
                    fields.count("lines", lines));
        }
    }

    /**
     * The message that the sender creates a group.
     *
     * @param attempt number of the sender's attempt
     * @param round   number of this attempt among the attempts of the sender that include the receiver
     * @param hash    hash of the whole list of ranks, which the ranks compare
     * @param list    ranks of the new group, for people; cut if the list is too long for a message
     */
    record GroupProposal(long attempt, long round, long hash, String list) implements ControlMessage {
        static final byte KIND = 6;

        @Override
        public GroupProposal through(FieldCodec fields) {
            fields.kind(KIND);
            return new GroupProposal(
                    fields.int64("attempt", attempt),
                    fields.int64("round", round),
                    fields.int64("hash", hash),
                    fields.text("list", Failure.TEXT_MOST, list));
        }
    }

    /**
     * The message that the sender has given up the creation of a group.
     *
     * @param round round of the attempt that the sender had announced
     * @param why   cause; without culprits, the sender is to blame
     */
    record Cancellation(long round, Failure why) implements ControlMessage {
        static final byte KIND = 7;

        @Override
        public Cancellation through(FieldCodec fields) {
            fields.kind(KIND);
            return new Cancellation(fields.int64("round", round), why.through(fields));
        }
    }

    /**
     * The last call of the sender, sent with a heartbeat. A receiver does not answer this message.
     *
     * @param sequence    sequence of the call
     * @param fingerprint fingerprint of the call
     * @param call        text of the call
     */
    record LastCall(long sequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 8;

        /** Creates the message of a call that this rank has made. */
        public static LastCall of(CallHeader call) {
            return new LastCall(call.sequence(), call.fingerprint(), call.text());
        }

        @Override
        public LastCall through(FieldCodec fields) {
            fields.kind(KIND);
            return new LastCall(
                    fields.int64("sequence", sequence),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call));
        }
    }

    /**
     * The leave of a rank that has left the group normally. Of all leaves that have reached the sender, the sender
     * sends the leave with the lowest last collective. A receiver forwards the leave if the receiver has not yet
     * received a lower leave.
     *
     * @param rank         rank that has left
     * @param lastSequence sequence of the last collective that the rank has called, 0 if none
     * @param fingerprint  fingerprint of the last collective that the rank has called, 0 if none
     * @param call         text of the last collective that the rank has called, for people
     */
    record LeaveReport(int rank, long lastSequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 9;

        /** Returns whether this leave has the lower last collective, or an equal last collective and the lower rank. */
        boolean isBefore(LeaveReport other) {
            return lastSequence != other.lastSequence ? lastSequence < other.lastSequence : rank < other.rank;
        }

        /** Returns whether the last collective of the rank that has left is known. */
        public boolean isKnown() {
            return lastSequence != UNKNOWN;
        }

        @Override
        public LeaveReport through(FieldCodec fields) {
            fields.kind(KIND);
            return new LeaveReport(
                    fields.rank("rank", rank),
                    fields.int64("lastSequence", lastSequence),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call));
        }
    }

    /** A request for a goodbye when the receiver leaves. A receiver that has already left answers at once. */
    record GoodbyeRequest() implements ControlMessage {
        static final byte KIND = 10;

        @Override
        public GoodbyeRequest through(FieldCodec fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * A report of ranks that are silent, or whose connections to the sender have ended. The sender cannot determine
     * whether the reported ranks have left. The receiver fails the group if some of the reported ranks have not left
     * according to the receiver.
     *
     * @param loss failure of the group if the ranks have not left
     */
    record SuspectReport(Failure loss) implements ControlMessage {
        static final byte KIND = 11;

        @Override
        public SuspectReport through(FieldCodec fields) {
            fields.kind(KIND);
            return new SuspectReport(loss.through(fields));
        }
    }

    /**
     * Decodes a message.
     *
     * @param message   bytes of the message; position and limit stay unchanged
     * @param worldSize number of ranks of the group
     * @throws IllegalArgumentException if the message is invalid for a group of this size
     */
    static ControlMessage decode(ByteBuffer message, int worldSize) {
        FieldReader in = new FieldReader("control message", message, worldSize);
        ControlMessage read = of(in.kind(), in);
        if (read == null) {
            throw in.unknown(GoAhead.KIND);
        }
        in.end();
        return read;
    }

    /** Reads the fields of a message of a kind. Returns null if the kind is unknown. */
    static ControlMessage of(int kind, FieldCodec in) {
        return switch (kind) {
            case Abort.KIND -> new Abort(0, Set.of(), Failure.NONE).through(in);
            case Goodbye.KIND -> Goodbye.unsaid(0).through(in);
            case GoodbyeAck.KIND -> new GoodbyeAck(0, 0).through(in);
            case Query.KIND -> Query.about(0, null, false).through(in);
            case StatusAnswer.KIND -> StatusAnswer.left().through(in);
            case GroupProposal.KIND -> new GroupProposal(0, 0, 0, "").through(in);
            case Cancellation.KIND -> new Cancellation(0, Failure.NONE).through(in);
            case LastCall.KIND -> new LastCall(0, 0, "").through(in);
            case LeaveReport.KIND -> new LeaveReport(0, 0, 0, "").through(in);
            case GoodbyeRequest.KIND -> new GoodbyeRequest().through(in);
            case SuspectReport.KIND -> new SuspectReport(Failure.NONE).through(in);
            case GoAhead.KIND -> new GoAhead(0).through(in);
            default -> null;
        };
    }
}
