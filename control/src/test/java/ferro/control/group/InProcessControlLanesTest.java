package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class InProcessControlLanesTest {
    private final InProcessControlLanes lanes = new InProcessControlLanes(3);
    /** Tasks of receivers, which run when the test calls {@link #run}. */
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    private final List<String> heard = new ArrayList<>();

    private ControlLane lane(int rank) {
        return lanes.lane(rank, tasks::add);
    }

    private void run() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** A receiver that records the sender and the first byte of each message. */
    private final class Hears implements ControlLane.PeerEvents {
        private final String who;

        Hears(String who) {
            this.who = who;
        }

        @Override
        public void lost(int peer, FerroException cause) {
            heard.add(who + " lost " + peer);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            heard.add(who + " " + peer + ":" + message.get());
        }
    }

    private static ByteBuffer message(int value) {
        return ByteBuffer.wrap(new byte[] {(byte) value});
    }

    @Test
    void messagesWaitForTheirReceiverAndKeepTheirOrder() {
        lane(0).control(2, message(4));
        lane(1).control(2, message(7));
        lane(0).control(2, message(5));
        run();
        assertEquals(List.of(), heard, "rank 2 has no receiver yet");

        lane(2).events(new Hears("2"));
        run();

        assertEquals(List.of("2 0:4", "2 1:7", "2 0:5"), heard);
    }

    @Test
    void aTaskAfterMessagesRunsAfterTheirDelivery() {
        ControlLane receiver = lane(2);
        receiver.events(new Hears("2"));
        lane(0).control(2, message(4));

        receiver.afterControl(0, () -> heard.add("task"));
        run();

        assertEquals(List.of("2 0:4", "task"), heard);
    }

    @Test
    void aSubgroupHasItsOwnMessagesAndRankNumbers() {
        ControlLane joined = lane(2);
        joined.events(new Hears("joined"));
        ControlLane part = joined.subgroup(new int[] {2, 0}, 77);
        part.events(new Hears("part"));
        ControlLane other = lane(0).subgroup(new int[] {2, 0}, 77);

        other.control(0, message(9));
        lane(0).control(2, message(3));
        run();

        assertEquals(List.of("part 1:9", "joined 0:3"), heard);
        assertEquals(List.of(0, 1, 2), List.of(part.rank(), other.rank(), part.worldSize()));
    }

    @Test
    void aClosedLaneOrAnEndedContextDropsMessagesWithoutError() {
        ControlLane closed = lane(1);
        closed.events(new Hears("1"));
        closed.close();
        lanes.lane(2, task -> {
                    throw new RejectedExecutionException("the context of rank 2 has ended");
                })
                .events(new Hears("2"));

        lane(0).control(1, message(4));
        lane(0).control(2, message(4));
        run();

        assertEquals(List.of(), heard);
    }

    @Test
    void aRankOutsideTheWorldIsRefused() {
        assertThrows(InvalidRankException.class, () -> lane(3));
    }
}
