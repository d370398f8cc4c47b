package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.backend.tcp.store.EndedRanks;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Control messages of groups without data links, over a real mesh. */
@Timeout(60)
class TcpControlLaneTest {
    private static final int[] ALL = {0, 1, 2};

    private Ranks ranks;
    private List<TcpMesh> meshes;
    private List<ControlLane> lanes;

    /** Sender and first byte of each message, and losses, in their order. */
    private record Heard(BlockingQueue<String> events) implements ControlLane.PeerEvents {
        static Heard on(ControlLane lane) {
            Heard heard = new Heard(new LinkedBlockingQueue<>());
            lane.events(heard);
            return heard;
        }

        String next() throws InterruptedException {
            return events.poll(10, TimeUnit.SECONDS);
        }

        @Override
        public void lost(int peer, FerroException cause) {
            events.add("lost " + peer);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            events.add(peer + ":" + message.get());
        }
    }

    @BeforeEach
    void joinThree() {
        ranks = Ranks.onLoopback();
        meshes = ranks.joinAll(3);
        lanes = meshes.stream()
                .<ControlLane>map(mesh -> new TcpControlLane(mesh, 0, ALL))
                .toList();
    }

    @AfterEach
    void leave() {
        lanes.forEach(ControlLane::close);
        ranks.close();
    }

    private static ByteBuffer message(int value) {
        return ByteBuffer.wrap(new byte[] {(byte) value});
    }

    @Test
    void messagesKeepTheirOrderAndWaitForTheirReceiver() throws InterruptedException {
        lanes.get(0).control(2, message(4));
        lanes.get(0).control(2, message(5));
        Recorder other = new Recorder();
        meshes.get(2).register(77, other.inMesh());
        meshes.get(0).control(2, 77, message(6));
        // what was sent before it has arrived, too
        other.next();

        Heard heard = Heard.on(lanes.get(2));

        assertEquals(List.of("0:4", "0:5"), List.of(heard.next(), heard.next()));
    }

    @Test
    void aSubgroupHasItsOwnMessagesAndRankNumbers() throws InterruptedException {
        int[] members = {2, 0};
        ControlLane first = lanes.get(2).subgroup(members, 7);
        ControlLane second = lanes.get(0).subgroup(members, 7);
        Heard joined = Heard.on(lanes.get(2));
        Heard part = Heard.on(first);
        CompletableFuture<RankEnd> end = new CompletableFuture<>();
        first.whenEnded(1, end::complete);
        ranks.server.set(EndedRanks.key(1), EndedRanks.value(RankEnd.of(5, "b", 1)));
        ranks.server.set(EndedRanks.key(0), EndedRanks.value(RankEnd.of(4, "a", 0)));

        second.control(0, message(9));
        lanes.get(0).control(2, message(3));

        assertEquals(List.of("1:9", "0:3"), List.of(part.next(), joined.next()));
        assertEquals(List.of(0, 1, 2), List.of(first.rank(), second.rank(), first.worldSize()));
        assertEquals(RankEnd.of(4, "a", 0), Ranks.result(end));
        first.close();
        second.close();
        lanes.get(0).control(2, message(6));
        assertEquals("0:6", joined.next(), "the other lane lives on");
    }

    @Test
    void aRankWhoseConnectionsEndIsLost() throws InterruptedException {
        List<Heard> heard = IntStream.range(0, 2)
                .mapToObj(rank -> Heard.on(lanes.get(rank)))
                .toList();

        meshes.get(2).drop();

        assertEquals(
                List.of("lost 2", "lost 2"),
                List.of(heard.get(0).next(), heard.get(1).next()));
        meshes.get(1).drop();
        String next = heard.get(0).next();
        // an end may be told twice
        assertEquals("lost 1", "lost 2".equals(next) ? heard.get(0).next() : next);
    }
}
