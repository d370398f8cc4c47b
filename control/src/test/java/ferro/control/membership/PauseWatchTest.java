package ferro.control.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PauseWatchTest {
    @Test
    void eachOfTheLast64PausesCountsOnce() {
        PauseWatch watch = new PauseWatch();
        long second = 1_000_000_000L;
        for (long at = 0; at < 65 * second; at += second) {
            watch.expect(at);
            watch.tick(at + second);
        }
        assertEquals(64 * second, watch.since(0, 65 * second));
    }
}
