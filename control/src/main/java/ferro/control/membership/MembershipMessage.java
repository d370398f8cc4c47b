package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.wire.FieldCodec;
import ferro.control.wire.FieldReader;
import ferro.control.wire.WireMessage;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * A control message about the processes of the ranks of a joined group: whether a process lives, is silent or is lost.
 * The table of all messages is in docs/wire-protocol.md.
 */
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
    record ProcessHello(long intervalNanos, String identity, String place) implements MembershipMessage {
        static final byte KIND = 1;

        @Override
        public ProcessHello through(FieldCodec fields) {
            fields.kind(KIND);
            return new ProcessHello(
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
    record Heartbeat(long number, long pauses, long pauseNanos) implements MembershipMessage {
        static final byte KIND = 2;

        @Override
        public Heartbeat through(FieldCodec fields) {
            fields.kind(KIND);
            return new Heartbeat(
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
     * @param text text for people, which contains {@link NotifiedGroups#RANK}
     */
    record LossReport(int rank, Code code, String text) implements MembershipMessage {
        static final byte KIND = 4;

        @Override
        public LossReport through(FieldCodec fields) {
            fields.kind(KIND);
            return new LossReport(
                    fields.rank("rank", rank), fields.code("code", LOSSES, code), fields.text("text", TEXT_MOST, text));
        }
    }

    /**
     * The report that a rank sends messages again after it was lost because of its silence. This message is sent to the
     * ranks that do not watch that rank themselves.
     *
     * @param rank rank that sends messages again, by its number in the joined group
     */
    record RecoveryReport(int rank) implements MembershipMessage {
        static final byte KIND = 5;

        @Override
        public RecoveryReport through(FieldCodec fields) {
            fields.kind(KIND);
            return new RecoveryReport(fields.rank("rank", rank));
        }
    }

    /** A request for heartbeats. The sender now watches the receiver in place of a rank that is gone. */
    record WatchRequest() implements MembershipMessage {
        static final byte KIND = 6;

        @Override
        public WatchRequest through(FieldCodec fields) {
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
            throw in.unknown(WatchRequest.KIND);
        }
        in.end();
        return read;
    }

    /** Reads the fields of a message of a kind. Returns null if the kind is unknown. */
    static MembershipMessage of(int kind, FieldCodec in) {
        return switch (kind) {
            case ProcessHello.KIND -> new ProcessHello(0, "", "").through(in);
            case Heartbeat.KIND -> new Heartbeat(0, 0, 0).through(in);
            case Leave.KIND -> new Leave().through(in);
            case LossReport.KIND -> new LossReport(0, Code.PEER_LOST, "").through(in);
            case RecoveryReport.KIND -> new RecoveryReport(0).through(in);
            case WatchRequest.KIND -> new WatchRequest().through(in);
            default -> null;
        };
    }
}
