package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.store.SeededHandshakesTest;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The store, client and server, under seeds; {@code -Dferro.seed=N} replays one. */
@Timeout(120)
class SeededStoreTest {
    @Test
    @Tag("long")
    @DisplayName(
            "row 22: whatever is cut, what the store answers is what one map would, and whoever waits hears of the end")
    void theStoreAnswersLikeOneMapDespiteCutConnections() {
        SeededHandshakesTest.seeds(500).forEach(seed -> new SeededStore(seed).run());
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        Set<Long> traces = new HashSet<>();
        for (long seed = 1; seed <= 20; seed++) {
            long trace = new SeededStore(seed).run();
            assertEquals(trace, new SeededStore(seed).run(), "seed " + seed);
            traces.add(trace);
        }
        assertEquals(20, traces.size(), "traces of 20 seeds");
    }
}
