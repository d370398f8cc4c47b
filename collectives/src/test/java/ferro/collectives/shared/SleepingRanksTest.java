package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a rank may sleep, on a clock that the test moves. */
class SleepingRanksTest {
    private static final int WORD = 128;

    private final OneJvm memory = new OneJvm(2, 4096);
    private final ByteBuffer[] areas = {memory.of(0).area(0), memory.of(0).area(1)};
    private final List<Integer> rung = new ArrayList<>();
    private long now = 5_000_000;
    private final SleepingRanks sleepers = new SleepingRanks(0, WORD, areas, () -> now, peer -> {});
    private final SleepingRanks others = new SleepingRanks(1, WORD, areas, () -> now, rung::add);

    @Test
    void aDelayedRankPollsOnceMoreBeforeItSleeps() {
        assertFalse(sleepers.maySleep());
        sleepers.looked();
        now += 50 * SleepingRanks.SETTLE_NANOS;
        assertFalse(sleepers.maySleep(), "the look may be as old as what held it up");
        sleepers.looked();
        assertTrue(sleepers.maySleep());
    }

    @Test
    void aRankThatWasWokenStartsItsWaitAgain() {
        assertFalse(sleepers.maySleep());
        sleepers.looked();
        now += 2 * SleepingRanks.SETTLE_NANOS;
        assertFalse(sleepers.maySleep());
        others.wake(0);
        sleepers.looked();
        assertFalse(sleepers.maySleep());
        sleepers.looked();
        assertFalse(sleepers.maySleep(), "nothing has settled since");
        assertEquals(List.of(0), rung);
    }
}
