package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.rendezvous.SeededHandshakesTest;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The store, client and server, under seeds; {@code -Dferro.seed=N} replays one. */
@Timeout(120)
class SeededStoreTest {
    @Test
    @DisplayName(
            "row 22: whatever is cut, what the store answers is what one map would, and whoever waits hears of the end")
    void whateverIsCutAnswersAreThoseOfOneMap() {
        SeededHandshakesTest.seeds(500).forEach(seed -> new SeededStore(seed).run());
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        for (long seed = 1; seed <= 20; seed++) {
            assertEquals(new SeededStore(seed).run(), new SeededStore(seed).run());
        }
    }
}
