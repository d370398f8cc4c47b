package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What ranks of a group tell each other beside the data; docs/wire-protocol.md has the table. */
sealed interface ControlMessage extends WireMessage
        permits ControlMessage.Abort,
                ControlMessage.Goodbye,
                ControlMessage.Heard,
                ControlMessage.Query,
                Status,
                ControlMessage.Agree,
                ControlMessage.Cancel,
                ControlMessage.Called {
    /** Longest text that says what a call is, in bytes: twice what a call has. */
    int CALL_MOST = 512;

    Set<Code> CODES = Set.of(Code.values());

    /** What a rank does with what another one told it. */
    interface Handler {
        void abort(int peer, Abort said);

        void goodbye(int peer, Goodbye said);

        void heard(int peer, Heard said);

        void query(int peer, Query said);

        void status(int peer, Status said);

        void agree(int peer, Agree said);

        void cancel(int peer, Cancel said);

        void called(int peer, Called said);
    }

    /** Hands it to the method of its kind. */
    void accept(int peer, Handler handler);

    /**
     * The group has failed.
     *
     * @param origin    rank that saw it first
     * @param sequence  operation in which it was seen, -1 if none
     * @param code      kind of the failure
     * @param known     of how many ranks the calls were compared; 0 where the cause is another
     * @param ageMillis for how long the sender has known of a failure
     * @param culprits  ranks to blame
     * @param text      for people
     */
    record Abort(int origin, long sequence, Code code, int known, int ageMillis, String culprits, String text)
            implements ControlMessage {
        static final byte KIND = 1;

        Abort(Fields in) {
            this(
                    in.rank("origin"),
                    in.int64("sequence"),
                    in.code("code", CODES),
                    in.count("known"),
                    in.count("ageMillis"),
                    in.ranks("culprits"),
                    in.text("text", Failure.TEXT_MOST));
        }

        static Abort of(Failure failure, long ageNanos) {
            long age = Math.max(0, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(ageNanos)));
            return new Abort(
                    failure.origin(),
                    failure.sequence(),
                    failure.code(),
                    failure.known(),
                    (int) age,
                    failure.culprits(),
                    failure.text());
        }

        Failure failure() {
            return new Failure(code, origin, sequence, culprits, text, null, known);
        }

        long ageNanos() {
            return TimeUnit.MILLISECONDS.toNanos(ageMillis);
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int32(origin).int64(sequence).code(code).int32(known).int32(ageMillis);
            out.ranks(culprits).text(text, Failure.TEXT_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.abort(peer, this);
        }
    }

    /**
     * The sender leaves in good order.
     *
     * @param lastSequence of the last collective that it has called, 0 if none
     * @param sent         messages that it has sent to the rank that is told
     * @param taken        messages of that rank that were delivered
     * @param fingerprint  of the last collective, 0 if none
     * @param call         what that was, for people
     */
    record Goodbye(long lastSequence, long sent, long taken, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 2;

        Goodbye(Fields in) {
            this(
                    in.int64("lastSequence"),
                    in.int64("sent"),
                    in.int64("taken"),
                    in.int64("fingerprint"),
                    in.text("call", CALL_MOST));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(lastSequence).int64(sent).int64(taken).int64(fingerprint).text(call, CALL_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.goodbye(peer, this);
        }
    }

    /**
     * The answer to a goodbye: sent at once, and again when the sender has all that the leaver sent.
     *
     * @param ended   last collective that has ended on the sender, 0 if none
     * @param arrived messages of the leaver that have come
     */
    record Heard(long ended, long arrived) implements ControlMessage {
        static final byte KIND = 3;

        Heard(Fields in) {
            this(in.int64("ended"), in.int64("arrived"));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(ended).int64(arrived);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.heard(peer, this);
        }
    }

    /**
     * Asks where a rank stands, and about a call.
     *
     * @param ask         number of the question
     * @param sequence    operation that it asks about, 0 for none
     * @param fingerprint of the sender's call there, 0 for none
     * @param call        what that call is
     */
    record Query(long ask, long sequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 4;

        Query(Fields in) {
            this(in.int64("ask"), in.int64("sequence"), in.int64("fingerprint"), in.text("call", CALL_MOST));
        }

        /** Asks about a call, or, without one, only where the rank stands. */
        static Query about(long ask, CallHeader call) {
            return call == null
                    ? new Query(ask, 0, 0, "")
                    : new Query(ask, call.sequence(), call.fingerprint(), call.text());
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(ask).int64(sequence).int64(fingerprint).text(call, CALL_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.query(peer, this);
        }
    }

    /**
     * The sender makes a group.
     *
     * @param attempt number of its attempt
     * @param turn    which of the attempts of these two ranks it is
     * @param hash    of the whole list: what is compared
     * @param list    ranks of the new group, for people; cut where it is too long to travel
     */
    record Agree(long attempt, long turn, long hash, String list) implements ControlMessage {
        static final byte KIND = 6;

        Agree(Fields in) {
            this(in.int64("attempt"), in.int64("turn"), in.int64("hash"), in.text("list", Failure.TEXT_MOST));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(attempt).int64(turn).int64(hash).text(list, Failure.TEXT_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.agree(peer, this);
        }
    }

    /**
     * The sender has given up the group that it made.
     *
     * @param turn     as it was told
     * @param code     why
     * @param culprits ranks that it blames, empty for itself
     * @param text     for people
     */
    record Cancel(long turn, Code code, String culprits, String text) implements ControlMessage {
        static final byte KIND = 7;

        Cancel(Fields in) {
            this(in.int64("turn"), in.code("code", CODES), in.ranks("culprits"), in.text("text", Failure.TEXT_MOST));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(turn).code(code).ranks(culprits).text(text, Failure.TEXT_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.cancel(peer, this);
        }
    }

    /**
     * The sender's last call, told with a heartbeat; no answer is due.
     *
     * @param sequence    its number
     * @param fingerprint of the call
     * @param call        what it is
     */
    record Called(long sequence, long fingerprint, String call) implements ControlMessage {
        static final byte KIND = 8;

        Called(Fields in) {
            this(in.int64("sequence"), in.int64("fingerprint"), in.text("call", CALL_MOST));
        }

        static Called of(CallHeader call) {
            return new Called(call.sequence(), call.fingerprint(), call.text());
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(sequence).int64(fingerprint).text(call, CALL_MOST);
        }

        @Override
        public void accept(int peer, Handler handler) {
            handler.called(peer, this);
        }
    }

    /**
     * Reads a message.
     *
     * @param message   bytes; left as they are
     * @param worldSize of the group
     * @throws IllegalArgumentException if it makes no sense there
     */
    static ControlMessage decode(ByteBuffer message, int worldSize) {
        FieldReader in = new FieldReader("control message", message, worldSize);
        ControlMessage read = of(in.kind(), in);
        if (read == null) {
            throw in.unknown(Called.KIND);
        }
        in.end();
        return read;
    }

    /** Makes the message of a kind from its fields, null if there is none. */
    static ControlMessage of(int kind, Fields in) {
        return switch (kind) {
            case Abort.KIND -> new Abort(in);
            case Goodbye.KIND -> new Goodbye(in);
            case Heard.KIND -> new Heard(in);
            case Query.KIND -> new Query(in);
            case Status.KIND -> new Status(in);
            case Agree.KIND -> new Agree(in);
            case Cancel.KIND -> new Cancel(in);
            case Called.KIND -> new Called(in);
            default -> null;
        };
    }
}
