package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RoundTripsTest {
    @Test
    void theMiddleOfThoseThatAreKnownCountsAndOfTwoTheLower() {
        assertEquals(0, RoundTrips.middle());
        assertEquals(0, RoundTrips.middle(0, 0));
        assertEquals(5000, RoundTrips.middle(0, 5000, 0));
        assertEquals(80, RoundTrips.middle(5000, 80));
        assertEquals(4900, RoundTrips.middle(5000, 80, 4900));
        assertEquals(90, RoundTrips.middle(90, 100, 40_000, 80, 70));
    }

    @Test
    void farBeginsAtAMillisecond() {
        assertFalse(RoundTrips.areFar(999));
        assertTrue(RoundTrips.areFar(1000));
    }

    /** Whatever such a connection took: one-host choices may not depend on how busy the host was. */
    @Test
    void connectionsInsideAHostAreNotLookedAt() {
        try (Ranks ranks = Ranks.onLoopback()) {
            for (TcpMesh mesh : ranks.joinAll(3)) {
                assertEquals(0, mesh.distanceMicros());
                assertFalse(mesh.isFar());
            }
        }
    }
}
