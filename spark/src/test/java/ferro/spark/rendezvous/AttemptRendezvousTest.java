package ferro.spark.rendezvous;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class AttemptRendezvousTest {
    private static String endpoint(String host) {
        return new AttemptRendezvous(host, 29500, "job", 0, false).endpoint();
    }

    @Test
    void anIpv6AddressHasBracketsOnce() {
        assertEquals("[fd00::1]:29500", endpoint("fd00::1"));
        assertEquals("[fd00::1]:29500", endpoint("[fd00::1]"));
        assertEquals("driver.example:29500", endpoint("driver.example"));
    }
}
