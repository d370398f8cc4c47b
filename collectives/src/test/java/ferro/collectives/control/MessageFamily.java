package ferro.collectives.control;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.util.List;

/** One of the two families of messages, with samples of each record that go to the ends of what its fields can be. */
enum MessageFamily {
    MEMBERSHIP(
            new MembershipMessage.Present(0, "", ""),
            new MembershipMessage.Present(Long.MIN_VALUE, "ß".repeat(400), "linux 1 2 3 4"),
            new MembershipMessage.Present(Long.MAX_VALUE, "x".repeat(800), "\uD83D\uDE00".repeat(200)),
            new MembershipMessage.Beat(1, 0, 0),
            new MembershipMessage.Beat(-1, Long.MIN_VALUE, Long.MAX_VALUE),
            new MembershipMessage.Leave(),
            new MembershipMessage.Lost(0, Code.PEER_LOST, ""),
            new MembershipMessage.Lost(2, Code.PARTITION, "größer als \uFFFD und 3\n"),
            new MembershipMessage.Lost(1, Code.PROTOCOL, "€".repeat(266)),
            new MembershipMessage.Found(0),
            new MembershipMessage.Found(2)) {
        @Override
        WireMessage decode(ByteBuffer message) {
            return MembershipMessage.decode(message, WORLD_SIZE);
        }

        @Override
        WireMessage of(int kind, Fields in) {
            return MembershipMessage.of(kind, in);
        }
    };

    static final int WORLD_SIZE = 3;

    final List<WireMessage> samples;

    MessageFamily(WireMessage... samples) {
        this.samples = List.of(samples);
    }

    /** Reads a message of a group of three ranks. */
    abstract WireMessage decode(ByteBuffer message);

    abstract WireMessage of(int kind, Fields in);

    /** How many records there are. */
    int kinds() {
        return family().getPermittedSubclasses().length;
    }

    private Class<?> family() {
        return samples.get(0).getClass().getInterfaces()[0];
    }
}
