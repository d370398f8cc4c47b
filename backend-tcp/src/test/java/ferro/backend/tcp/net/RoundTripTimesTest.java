package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RoundTripTimesTest {
    @Test
    void theRoundTripTimeOfAGroupIsTheLowerMedian() {
        assertEquals(0, RoundTripTimes.middle());
        assertEquals(0, RoundTripTimes.middle(0, 0));
        assertEquals(5000, RoundTripTimes.middle(0, 5000, 0));
        assertEquals(80, RoundTripTimes.middle(5000, 80));
        assertEquals(4900, RoundTripTimes.middle(5000, 80, 4900));
        assertEquals(90, RoundTripTimes.middle(90, 100, 40_000, 80, 70));
    }

    @Test
    void ranksCountAsDistantFromOneMillisecondOn() {
        assertFalse(RoundTripTimes.areFar(999));
        assertTrue(RoundTripTimes.areFar(1000));
    }

    /** Whatever such a connection took: one-host choices may not depend on how busy the host was. */
    @Test
    void connectionsWithinAHostAreNotMeasured() {
        try (Ranks ranks = Ranks.onLoopback()) {
            for (TcpMesh mesh : ranks.joinAll(3)) {
                assertEquals(0, mesh.distanceMicros());
                assertFalse(mesh.isFar());
            }
        }
    }
}
