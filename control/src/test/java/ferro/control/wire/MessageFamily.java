package ferro.control.wire;

import ferro.FerroException.Code;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Cancellation;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.GoodbyeAck;
import ferro.control.failure.ControlMessage.GoodbyeRequest;
import ferro.control.failure.ControlMessage.GroupProposal;
import ferro.control.failure.ControlMessage.LastCall;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.ControlMessage.SuspectReport;
import ferro.control.failure.Failure;
import ferro.control.failure.GoAhead;
import ferro.control.failure.StatusAnswer;
import ferro.control.membership.Hashing;
import ferro.control.membership.MembershipMessage;
import ferro.control.membership.MembershipMessage.Heartbeat;
import ferro.control.membership.MembershipMessage.Leave;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.control.membership.MembershipMessage.ProcessHello;
import ferro.control.membership.MembershipMessage.RecoveryReport;
import ferro.control.membership.MembershipMessage.WatchRequest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One of the two families of messages, with samples of each record that reach the limits of its fields. */
enum MessageFamily {
    CONTROL(
            "### Messages of a group",
            new Abort(0, Set.of(), new Failure(Code.PEER_LOST, 0, -1, Set.of(), "", null, 0)),
            new Abort(
                    127,
                    Set.of(2),
                    new Failure(
                            Code.MISMATCH,
                            2,
                            Long.MIN_VALUE + 3,
                            Set.of(1, 2),
                            "größer als 3",
                            null,
                            Integer.MAX_VALUE)),
            new Abort(
                    Integer.MAX_VALUE,
                    Set.of(1, 2),
                    new Failure(Code.ABORTED, 1, Long.MAX_VALUE, Set.of(1, 2), "€".repeat(933) + "x", null, 1)),
            new Goodbye(0, 0, 0, 0, "", 0, 2),
            new Goodbye(-1, Long.MAX_VALUE, Long.MIN_VALUE, -2, "ß".repeat(256), 2, 1),
            new GoodbyeAck(0, 0),
            new GoodbyeAck(Long.MIN_VALUE, Long.MAX_VALUE),
            new Query(1, 0, 0, "", 0),
            new Query(-1, Long.MAX_VALUE, Long.MIN_VALUE, "x".repeat(512), 1),
            new Query(2, 3, 4, "call", Integer.MAX_VALUE),
            new StatusAnswer(0, 0, "", 0, 0, 0, "", "", Set.of(), 0, 0, ""),
            new StatusAnswer(
                    1,
                    2,
                    "lastCall",
                    3,
                    4,
                    5,
                    "call",
                    "place\nof two lines",
                    Set.of(7, 1_000_000),
                    1,
                    6,
                    "Train.step at Train.java:88"),
            new StatusAnswer(
                    -1,
                    -2,
                    "ü".repeat(256),
                    -3,
                    -4,
                    -5,
                    "€".repeat(170),
                    "x".repeat(1600),
                    longestList(),
                    Integer.MAX_VALUE,
                    -6,
                    "ü".repeat(120)),
            new GroupProposal(1, 1, Hashing.of("[0, 1]"), "[0, 1]"),
            new GroupProposal(-1, Long.MIN_VALUE, Long.MAX_VALUE, "\uD83D\uDE00".repeat(700)),
            new Cancellation(1, new Failure(Code.INTERRUPTED, 0, -1, Set.of(), "", null)),
            new Cancellation(Long.MIN_VALUE, new Failure(Code.TIMED_OUT, 2, -1, Set.of(1, 2), "y".repeat(2800), null)),
            new LastCall(1, 0, ""),
            new LastCall(-1, Long.MAX_VALUE, "allReduce f32[4] sum"),
            new LeaveReport(0, 0, 0, ""),
            new LeaveReport(2, Long.MAX_VALUE, Long.MIN_VALUE, "ß".repeat(256)),
            new GoodbyeRequest(),
            new SuspectReport(new Failure(Code.PARTITION, 0, -1, Set.of(1), "", null)),
            new SuspectReport(new Failure(Code.PARTITION, 2, 7, Set.of(0, 1), "€".repeat(933), null, 2)),
            new GoAhead(1),
            new GoAhead(Long.MAX_VALUE)) {
        @Override
        WireMessage decode(ByteBuffer message) {
            return ControlMessage.decode(message, WORLD_SIZE);
        }

        @Override
        WireMessage of(int kind, FieldCodec in) {
            return ControlMessage.of(kind, in);
        }
    },

    MEMBERSHIP(
            "### Messages of memberships",
            new ProcessHello(0, "", ""),
            new ProcessHello(Long.MIN_VALUE, "ß".repeat(400), "linux 1 2 3 4"),
            new ProcessHello(Long.MAX_VALUE, "x".repeat(800), "\uD83D\uDE00".repeat(200)),
            new Heartbeat(1, 0, 0),
            new Heartbeat(-1, Long.MIN_VALUE, Long.MAX_VALUE),
            new Leave(),
            new LossReport(0, Code.PEER_LOST, ""),
            new LossReport(2, Code.PARTITION, "größer als \uFFFD und 3\n"),
            new LossReport(1, Code.PROTOCOL, "€".repeat(266)),
            new RecoveryReport(0),
            new RecoveryReport(2),
            new WatchRequest()) {
        @Override
        WireMessage decode(ByteBuffer message) {
            return MembershipMessage.decode(message, WORLD_SIZE);
        }

        @Override
        WireMessage of(int kind, FieldCodec in) {
            return MembershipMessage.of(kind, in);
        }
    };

    static final int WORLD_SIZE = 3;

    /** The heading above the table of the family in docs/wire-protocol.md. */
    final String heading;

    final List<WireMessage> samples;

    MessageFamily(String heading, WireMessage... samples) {
        this.heading = heading;
        this.samples = List.of(samples);
    }

    /** Decodes a message of a group of three ranks. */
    abstract WireMessage decode(ByteBuffer message);

    abstract WireMessage of(int kind, FieldCodec in);

    /** Returns the number of records. */
    int kinds() {
        return family().getPermittedSubclasses().length;
    }

    /** Returns ranks whose list has the greatest length: 205 ranks of four digits. */
    private static Set<Integer> longestList() {
        return IntStream.range(1_000, 1_205).boxed().collect(Collectors.toSet());
    }

    private Class<?> family() {
        return samples.get(0).getClass().getInterfaces()[0];
    }
}
