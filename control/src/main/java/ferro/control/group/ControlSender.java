package ferro.control.group;

import ferro.control.failure.ControlMessage;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntPredicate;

/** Sends control messages to the other ranks of a group; thread-safe, and never waits. */
final class ControlSender {
    /** Maximum size of a group in which a rank that has a question asks all others. */
    private static final int MAX_SMALL = 33;

    private final ControlLane lane;
    private final GroupSpec group;

    ControlSender(ControlLane lane, GroupSpec group) {
        this.lane = lane;
        this.group = group;
    }

    /** Returns this rank. */
    int self() {
        return group.rank();
    }

    /** Returns whether the group is small enough for messages of each rank to all others. */
    boolean isSmall() {
        return group.worldSize() <= MAX_SMALL;
    }

    /** Sends a message to one rank. */
    void tell(int peer, ControlMessage message) {
        lane.control(peer, message.encoded());
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
                lane.control(peer, bytes.duplicate());
            }
        }
    }

    /** Sends a message to some ranks; this rank is left out. */
    void send(BitSet ranks, ControlMessage message) {
        tellAll(message, ranks::get);
    }

    /** Sends a message to the next ranks in a circle, at most so many. */
    void tellNext(ControlMessage message, int most) {
        ByteBuffer bytes = message.encoded();
        for (int step = 1; step <= Math.min(most, group.worldSize() - 1); step++) {
            lane.control((group.rank() + step) % group.worldSize(), bytes.duplicate());
        }
    }
}
