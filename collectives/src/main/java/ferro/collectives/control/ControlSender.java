package ferro.collectives.control;

import ferro.collectives.control.failure.ControlMessage;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.IntPredicate;

/** Sends control messages to the other ranks of a group; thread-safe, and never waits. */
final class ControlSender {
    private final Transport transport;
    private final GroupSpec group;

    ControlSender(Transport transport, GroupSpec group) {
        this.transport = transport;
        this.group = group;
    }

    /** Returns this rank. */
    int self() {
        return group.rank();
    }

    /** Sends a message to one rank. */
    void tell(int peer, ControlMessage message) {
        transport.control(peer, message.encoded());
    }

    /** Sends a message to all other ranks. */
    void tellAll(ControlMessage message) {
        tellAll(message, peer -> true);
    }

    /** Sends a message to those of the other ranks that the condition accepts. */
    void tellAll(ControlMessage message, IntPredicate isTold) {
        ByteBuffer bytes = message.encoded();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank() && isTold.test(peer)) {
                transport.control(peer, bytes.duplicate());
            }
        }
    }

    /** Sends a message to the next ranks in a circle, at most so many. */
    void tellNext(ControlMessage message, int most) {
        ByteBuffer bytes = message.encoded();
        for (int step = 1; step <= Math.min(most, group.worldSize() - 1); step++) {
            transport.control((group.rank() + step) % group.worldSize(), bytes.duplicate());
        }
    }
}
