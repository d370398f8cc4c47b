package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The watch over a rank that is alive, but whose control connection was given up. */
class GivenUpConnectionTest {
    private static final Map<String, String> HEARTBEATS =
            Map.of("ferro.heartbeat.suspect", "10s", "ferro.heartbeat.limit", "30s");

    @Test
    void aRankWithoutConnectionIsNotSuspectedButItsDeathIsDetected() {
        Processes host = new Processes("");
        Watchers world = new Watchers(2, 1000, HEARTBEATS, host).enter();
        world.pass(Duration.ofSeconds(3));
        FerroException changed = new FerroException(Code.PROTOCOL, Where.of("world", 0), "record 7 was changed");
        world.ranks.get(0).connectionLost(1, changed);
        world.ranks.get(1).paused = true;
        world.pass(Duration.ofSeconds(60));
        assertEquals(List.of(), world.ranks.get(0).peerFailures);

        host.exited = "process of 1";
        world.pass(Duration.ofMillis(200));

        assertEquals(1, world.ranks.get(0).peerFailures.size());
        assertEquals(Code.PEER_LOST, world.ranks.get(0).peerFailures.get(0).code());
    }
}
