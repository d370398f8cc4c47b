package ferro.collectives.control;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.util.Set;

/** What the memberships of a joined group tell each other; docs/wire-protocol.md has the table. */
sealed interface MembershipMessage extends WireMessage {
    /** Longest identity, place or text, in bytes. */
    int TEXT_MOST = 800;
    /** Why a rank can be lost. */
    Set<Code> LOSSES = Set.of(Code.PEER_LOST, Code.PARTITION, Code.PROTOCOL);

    /**
     * The first message: who is there.
     *
     * @param intervalNanos between its heartbeats, 0 for none
     * @param identity      of its process, for {@link ferro.spi.ProcessTable#watch}; empty if unknown
     * @param place         for people; empty if unknown
     */
    record Present(long intervalNanos, String identity, String place) implements MembershipMessage {
        static final byte KIND = 1;

        Present(Fields in) {
            this(in.int64("intervalNanos"), in.text("identity", TEXT_MOST), in.text("place", TEXT_MOST));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(intervalNanos).text(identity, TEXT_MOST).text(place, TEXT_MOST);
        }
    }

    /**
     * A heartbeat.
     *
     * @param number     1 and up: what comes twice or too late is known by it
     * @param pauses     how many pauses of its process the sender has told of
     * @param pauseNanos the last of them
     */
    record Beat(long number, long pauses, long pauseNanos) implements MembershipMessage {
        static final byte KIND = 2;

        Beat(Fields in) {
            this(in.int64("number"), in.int64("pauses"), in.int64("pauseNanos"));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int64(number).int64(pauses).int64(pauseNanos);
        }
    }

    /** The last message: the sender has left all its groups, and will be silent. */
    record Leave() implements MembershipMessage {
        static final byte KIND = 3;

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            // its kind says it all
        }
    }

    /**
     * A rank is lost, for those that do not watch it themselves.
     *
     * @param rank of the joined group
     * @param code why
     * @param text for people, with {@link Members#RANK} in it
     */
    record Lost(int rank, Code code, String text) implements MembershipMessage {
        static final byte KIND = 4;

        Lost(Fields in) {
            this(in.rank("rank"), in.code("code", LOSSES), in.text("text", TEXT_MOST));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int32(rank).code(code).text(text, TEXT_MOST);
        }
    }

    /**
     * A rank that was lost by its silence is heard of again, for those that do not watch it themselves.
     *
     * @param rank of the joined group
     */
    record Found(int rank) implements MembershipMessage {
        static final byte KIND = 5;

        Found(Fields in) {
            this(in.rank("rank"));
        }

        @Override
        public byte kind() {
            return KIND;
        }

        @Override
        public void write(FieldWriter out) {
            out.int32(rank);
        }
    }

    /**
     * Reads a message.
     *
     * @param message   bytes; left as they are
     * @param worldSize of the joined group
     * @throws IllegalArgumentException if it makes no sense there
     */
    static MembershipMessage decode(ByteBuffer message, int worldSize) {
        FieldReader in = new FieldReader("membership message", message, worldSize);
        MembershipMessage read = of(in.kind(), in);
        if (read == null) {
            throw in.unknown(Found.KIND);
        }
        in.end();
        return read;
    }

    /** Makes the message of a kind from its fields, null if there is none. */
    static MembershipMessage of(int kind, Fields in) {
        return switch (kind) {
            case Present.KIND -> new Present(in);
            case Beat.KIND -> new Beat(in);
            case Leave.KIND -> new Leave();
            case Lost.KIND -> new Lost(in);
            case Found.KIND -> new Found(in);
            default -> null;
        };
    }
}
