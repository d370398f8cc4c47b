package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.wire.FieldCodec;
import ferro.control.wire.FieldReader;
import ferro.control.wire.WireMessage;
import java.nio.ByteBuffer;
import java.util.Set;

/** A message between the memberships of a joined group. The table of all messages is in docs/wire-protocol.md. */
public sealed interface MembershipMessage extends WireMessage {
    /** The longest identity, {@code place} or text, in bytes. */
    int TEXT_MOST = 800;
    /** The codes with which a rank may be lost. */
    Set<Code> LOSSES = Set.of(Code.PEER_LOST, Code.PARTITION, Code.PROTOCOL);

    /**
     * The first message of a rank. The message identifies the process of the sender.
     *
     * @param intervalNanos interval between the sender's heartbeats, in nanoseconds; 0 if the sender sends no
     *     heartbeats
     * @param identity      identity of the sender's process, for {@link ferro.spi.ProcessTable#watch}; empty if unknown
     * @param place         process and host of the sender, for people; empty if unknown
     */
    record Present(long intervalNanos, String identity, String place) implements MembershipMessage {
        static final byte KIND = 1;

        @Override
        public Present through(FieldCodec fields) {
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
     * @param number     number from 1, which identifies messages that arrive twice or too late
     * @param pauses     number of pauses of its process that the sender has reported
     * @param pauseNanos length of the last pause that the sender has reported, in nanoseconds
     */
    record Beat(long number, long pauses, long pauseNanos) implements MembershipMessage {
        static final byte KIND = 2;

        @Override
        public Beat through(FieldCodec fields) {
            fields.kind(KIND);
            return new Beat(
                    fields.int64("number", number),
                    fields.int64("pauses", pauses),
                    fields.int64("pauseNanos", pauseNanos));
        }
    }

    /** The last message of a rank. The sender has left all its groups and will send no more heartbeats. */
    record Leave() implements MembershipMessage {
        static final byte KIND = 3;

        @Override
        public Leave through(FieldCodec fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * The loss of a rank. The loss of a silent rank is sent only to ranks that do not watch the silent rank themselves.
     *
     * @param rank lost rank, by its number in the joined group
     * @param code reason for the loss
     * @param text text for people, which contains {@link Members#RANK}
     */
    record Lost(int rank, Code code, String text) implements MembershipMessage {
        static final byte KIND = 4;

        @Override
        public Lost through(FieldCodec fields) {
            fields.kind(KIND);
            return new Lost(
                    fields.rank("rank", rank), fields.code("code", LOSSES, code), fields.text("text", TEXT_MOST, text));
        }
    }

    /**
     * The report that a rank sends messages again after it was lost because of its silence. This message is sent to the
     * ranks that do not watch that rank themselves.
     *
     * @param rank rank that sends messages again, by its number in the joined group
     */
    record Found(int rank) implements MembershipMessage {
        static final byte KIND = 5;

        @Override
        public Found through(FieldCodec fields) {
            fields.kind(KIND);
            return new Found(fields.rank("rank", rank));
        }
    }

    /** A request for heartbeats. The sender now watches the receiver in place of a rank that is gone. */
    record Watch() implements MembershipMessage {
        static final byte KIND = 6;

        @Override
        public Watch through(FieldCodec fields) {
            fields.kind(KIND);
            return this;
        }
    }

    /**
     * Decodes a message.
     *
     * @param message   bytes of the message; position and limit stay unchanged
     * @param worldSize number of ranks of the joined group
     * @throws IllegalArgumentException if the message is invalid for a group of this size
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

    /** Reads the fields of a message of a kind. Returns null if the kind is unknown. */
    static MembershipMessage of(int kind, FieldCodec in) {
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
