package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.wire.FieldReader;
import ferro.control.wire.Fields;
import ferro.control.wire.WireMessage;
import java.nio.ByteBuffer;
import java.util.Set;

/** The messages between the memberships of a joined group; docs/wire-protocol.md has the table. */
public sealed interface MembershipMessage extends WireMessage {
    /** The longest identity, place or text, in bytes. */
    int TEXT_MOST = 800;
    /** The codes with which a rank can be lost. */
    Set<Code> LOSSES = Set.of(Code.PEER_LOST, Code.PARTITION, Code.PROTOCOL);

    /**
     * The first message: presents the sender.
     *
     * @param intervalNanos between its heartbeats, 0 for none
     * @param identity      of its process, for {@link ferro.spi.ProcessTable#watch}; empty if unknown
     * @param place         for people; empty if unknown
     */
    record Present(long intervalNanos, String identity, String place) implements MembershipMessage {
        static final byte KIND = 1;

        @Override
        public Present through(Fields fields) {
            fields.kind(KIND);
            return new Present(
                    fields.int64("intervalNanos", intervalNanos),
                    fields.text("identity", TEXT_MOST, identity),
                    fields.text("place", TEXT_MOST, place));
        }
    }

    /**
     * A heartbeat.
     *
     * @param number     1 and up: identifies messages that arrive twice or too late
     * @param pauses     number of pauses of its process that the sender has reported
     * @param pauseNanos length of the last of them
     */
    record Beat(long number, long pauses, long pauseNanos) implements MembershipMessage {
        static final byte KIND = 2;

        @Override
        public Beat through(Fields fields) {
            fields.kind(KIND);
            return new Beat(
                    fields.int64("number", number),
                    fields.int64("pauses", pauses),
                    fields.int64("pauseNanos", pauseNanos));
        }
    }

    /** The last message: the sender has left all its groups and will be silent. */
    record Leave() implements MembershipMessage {
        static final byte KIND = 3;

        @Override
        public Leave through(Fields fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * A rank is lost. Its silence is told only to the ranks that do not watch it themselves.
     *
     * @param rank of the joined group
     * @param code why
     * @param text for people, with {@link Members#RANK} in it
     */
    record Lost(int rank, Code code, String text) implements MembershipMessage {
        static final byte KIND = 4;

        @Override
        public Lost through(Fields fields) {
            fields.kind(KIND);
            return new Lost(
                    fields.rank("rank", rank), fields.code("code", LOSSES, code), fields.text("text", TEXT_MOST, text));
        }
    }

    /**
     * A rank that was lost because of its silence is heard of again; told to the ranks that do not watch it themselves.
     *
     * @param rank of the joined group
     */
    record Found(int rank) implements MembershipMessage {
        static final byte KIND = 5;

        @Override
        public Found through(Fields fields) {
            fields.kind(KIND);
            return new Found(fields.rank("rank", rank));
        }
    }

    /** Asks for heartbeats: the sender watches the receiver from now on, because a rank that it watched is over. */
    record Watch() implements MembershipMessage {
        static final byte KIND = 6;

        @Override
        public Watch through(Fields fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * Reads a message.
     *
     * @param message   bytes; left as they are
     * @param worldSize of the joined group
     * @throws IllegalArgumentException if the message is invalid for that group
     */
    static MembershipMessage decode(ByteBuffer message, int worldSize) {
        FieldReader in = new FieldReader("membership message", message, worldSize);
        MembershipMessage read = of(in.kind(), in);
        if (read == null) {
            throw in.unknown(Watch.KIND);
        }
        in.end();
        return read;
    }

    /** Makes the message of a kind from its fields; returns null if there is no such kind. */
    static MembershipMessage of(int kind, Fields in) {
        return switch (kind) {
            case Present.KIND -> new Present(0, "", "").through(in);
            case Beat.KIND -> new Beat(0, 0, 0).through(in);
            case Leave.KIND -> new Leave().through(in);
            case Lost.KIND -> new Lost(0, Code.PEER_LOST, "").through(in);
            case Found.KIND -> new Found(0).through(in);
            case Watch.KIND -> new Watch().through(in);
            default -> null;
        };
    }
}
