package ferro.control.failure;

import ferro.FerroException.Code;
import ferro.control.wire.FieldReader;
import ferro.control.wire.FieldWriter;
import ferro.control.wire.Fields;
import ferro.control.wire.WireMessage;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The control messages between ranks of a group; docs/wire-protocol.md has the table. */
public sealed interface ControlMessage extends WireMessage
        permits ControlMessage.Abort,
                ControlMessage.Goodbye,
                ControlMessage.Heard,
                ControlMessage.Query,
                Status,
                ControlMessage.Agree,
                ControlMessage.Cancel,
                ControlMessage.Called,
                ControlMessage.Left,
                ControlMessage.Follow,
                ControlMessage.Suspect,
                GoAhead {
    /** Longest text that says what a call is, in bytes: twice what a call has. */
    int CALL_MOST = 512;

    /** Number of the last collective of a rank that has left without a goodbye to this rank. */
    long UNKNOWN = -1;

    Set<Code> CODES = Set.of(Code.values());

    /**
     * The group has failed.
     *
     * @param ageMillis how long the sender has known of a failure
     * @param dead      ranks that the sender knows to be dead, as many as fit. Every rank has culprits in its lost ranks
     *     before a call fails, and others later
     * @param failure   cause as the sender knows it
     */
    record Abort(int ageMillis, Set<Integer> dead, Failure failure) implements ControlMessage {
        static final byte KIND = 1;
        /** Longest list of dead ranks, in bytes: what a failure leaves of a message. */
        static final int MAX_DEAD = 240;

        /** Cuts the dead ranks to what fits into a message. */
        public Abort {
            dead = FieldWriter.cutRanks(dead, MAX_DEAD);
        }

        /** Tells a failure that this rank has known for some nanoseconds, and the culprits that it knows to be dead. */
        public static Abort of(Failure failure, Set<Integer> dead, long ageNanos) {
            long age = Math.max(0, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(ageNanos)));
            return new Abort((int) age, dead, failure);
        }

        /** Returns how long the sender has known it. */
        public long ageNanos() {
            return TimeUnit.MILLISECONDS.toNanos(ageMillis);
        }

        @Override
        public Abort through(Fields fields) {
            fields.kind(KIND);
            int age = fields.count("ageMillis", ageMillis);
            return new Abort(age, fields.ranks("dead", MAX_DEAD, dead), failure.through(fields));
        }
    }

    /**
     * The sender leaves in good order.
     *
     * @param lastSequence sequence of the last collective that the sender has called, 0 if none
     * @param sent         messages that the sender has sent to the receiver of this goodbye
     * @param taken        messages of the receiver that were delivered at the sender
     * @param fingerprint  of the last collective, 0 if none
     * @param call         text of that collective, for people
     * @param previous     rank before the sender that has not left, as far as the sender knows; the ranks between have left
     * @param next         rank after the sender that is there, in the same way
     */
    record Goodbye(long lastSequence, long sent, long taken, long fingerprint, String call, int previous, int next)
            implements ControlMessage {
        static final byte KIND = 2;

        /** Makes what a rank is taken to have said that has closed its end, and has exchanged no message with this one. */
        public static Goodbye unsaid(int rank) {
            return new Goodbye(UNKNOWN, 0, 0, 0, "", rank, rank);
        }

        /** Returns the leave of the sender, for ranks that are no neighbours of it. */
        public Left of(int sender) {
            return new Left(sender, lastSequence, fingerprint, call);
        }

        @Override
        public Goodbye through(Fields fields) {
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
     * The answer to a goodbye: sent at once, and again when the sender has received everything that the leaving rank
     * sent.
     *
     * @param ended   last collective that has ended on the sender, 0 if none
     * @param arrived messages of the leaving rank that have arrived
     */
    record Heard(long ended, long arrived) implements ControlMessage {
        static final byte KIND = 3;

        @Override
        public Heard through(Fields fields) {
            fields.kind(KIND);
            return new Heard(fields.int64("ended", ended), fields.int64("arrived", arrived));
        }
    }

    /**
     * Asks a rank for its status, and about a call.
     *
     * @param ask         number of the question
     * @param sequence    operation that the question is about, 0 for none
     * @param fingerprint of the sender's call there, 0 for none
     * @param call        text of that call
     * @param lines       1 if the answer has to contain a line of the program, for which the rank takes stacks; else 0
     */
    record Query(long ask, long sequence, long fingerprint, String call, int lines) implements ControlMessage {
        static final byte KIND = 4;

        /** Makes a question about a call; without a call, a question for the status only. */
        public static Query about(long ask, CallHeader call, boolean withLine) {
            int lines = withLine ? 1 : 0;
            return call == null
                    ? new Query(ask, 0, 0, "", lines)
                    : new Query(ask, call.sequence(), call.fingerprint(), call.text(), lines);
        }

        @Override
        public Query through(Fields fields) {
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
     * The sender makes a group.
     *
     * @param attempt number of its attempt
     * @param round   number of this attempt among those of these two ranks
     * @param hash    of the whole list; ranks compare this
     * @param list    ranks of the new group, for people; cut if it is too long for a message
     */
    record Agree(long attempt, long round, long hash, String list) implements ControlMessage {
        static final byte KIND = 6;

        @Override
        public Agree through(Fields fields) {
            fields.kind(KIND);
            return new Agree(
                    fields.int64("attempt", attempt),
                    fields.int64("round", round),
                    fields.int64("hash", hash),
                    fields.text("list", Failure.TEXT_MOST, list));
        }
    }

    /**
     * The sender has given up the group that it made.
     *
     * @param round of the attempt that was told
     * @param why   cause; without culprits, the sender is to blame
     */
    record Cancel(long round, Failure why) implements ControlMessage {
        static final byte KIND = 7;

        @Override
        public Cancel through(Fields fields) {
            fields.kind(KIND);
            return new Cancel(fields.int64("round", round), why.through(fields));
        }
    }

    /**
     * The last call of the sender, sent with a heartbeat; it needs no answer.
     *
     * @param sequence    its number
     * @param fingerprint of the call
     * @param call        text of the call
     */
    record Called(long sequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 8;

        /** Tells a call that this rank has made. */
        public static Called of(CallHeader call) {
            return new Called(call.sequence(), call.fingerprint(), call.text());
        }

        @Override
        public Called through(Fields fields) {
            fields.kind(KIND);
            return new Called(
                    fields.int64("sequence", sequence),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call));
        }
    }

    /**
     * A rank has left in good order: of all leavers that the sender knows, the one with the lowest last collective. A rank
     * forwards it if it is lower than the one that the rank knew.
     *
     * @param rank         that has left
     * @param lastSequence sequence of the last collective that it has called, 0 if none
     * @param fingerprint  of that collective, 0 if none
     * @param call         text of that collective, for people
     */
    record Left(int rank, long lastSequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 9;

        /** Returns whether this leaver has the lower last collective, or of equal ones the lower rank. */
        boolean isBefore(Left other) {
            return lastSequence != other.lastSequence ? lastSequence < other.lastSequence : rank < other.rank;
        }

        /** Returns whether the last collective is known. */
        public boolean isKnown() {
            return lastSequence != UNKNOWN;
        }

        @Override
        public Left through(Fields fields) {
            fields.kind(KIND);
            return new Left(
                    fields.rank("rank", rank),
                    fields.int64("lastSequence", lastSequence),
                    fields.int64("fingerprint", fingerprint),
                    fields.text("call", CALL_MOST, call));
        }
    }

    /** Asks a rank to say goodbye to the sender when it leaves. A rank that has left says it at once. */
    record Follow() implements ControlMessage {
        static final byte KIND = 10;

        @Override
        public Follow through(Fields fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * Ranks are silent, or their connections to the sender have ended, and the sender does not know whether they have left.
     * The receiver fails the group because of those of which it knows that they have not left.
     *
     * @param loss failure of the group if they have not left
     */
    record Suspect(Failure loss) implements ControlMessage {
        static final byte KIND = 11;

        @Override
        public Suspect through(Fields fields) {
            fields.kind(KIND);
            return new Suspect(loss.through(fields));
        }
    }

    /**
     * Reads a message.
     *
     * @param message   bytes; left as they are
     * @param worldSize of the group
     * @throws IllegalArgumentException if the message is invalid for that group
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

    /** Makes the message of a kind from its fields; returns null if there is no such kind. */
    static ControlMessage of(int kind, Fields in) {
        return switch (kind) {
            case Abort.KIND -> new Abort(0, Set.of(), Failure.NONE).through(in);
            case Goodbye.KIND -> Goodbye.unsaid(0).through(in);
            case Heard.KIND -> new Heard(0, 0).through(in);
            case Query.KIND -> Query.about(0, null, false).through(in);
            case Status.KIND -> Status.left().through(in);
            case Agree.KIND -> new Agree(0, 0, 0, "").through(in);
            case Cancel.KIND -> new Cancel(0, Failure.NONE).through(in);
            case Called.KIND -> new Called(0, 0, "").through(in);
            case Left.KIND -> new Left(0, 0, 0, "").through(in);
            case Follow.KIND -> new Follow().through(in);
            case Suspect.KIND -> new Suspect(Failure.NONE).through(in);
            case GoAhead.KIND -> new GoAhead(0).through(in);
            default -> null;
        };
    }
}
