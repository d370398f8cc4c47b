package ferro.backend.nccl.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BackoffTest {
    private static final int SMALL_LOOKS = 64;
    private static final long MILLISECOND = 1_000_000;

    private final Backoff naps = new Backoff();

    @Test
    void earlyPollsHaveNoSleepBetweenThem() {
        for (int look = 0; look < SMALL_LOOKS; look++) {
            assertEquals(0, naps.next(), "look " + look);
        }
        assertTrue(naps.next() > 0);
    }

    @Test
    void aSleepIsAtMostASixteenthOfTheWaitingTime() {
        long slept = 0;
        for (int look = 0; look < 1000; look++) {
            long nap = naps.next();
            assertTrue(nap <= Math.max(20_000, slept / 16), "look " + look + ": " + nap + " ns after " + slept + " ns");
            slept += nap;
        }
    }

    @Test
    void aLongWaitPollsAThousandTimesPerSecond() {
        long slept = 0;
        int looks = 0;
        while (slept < 20 * MILLISECOND) {
            slept += naps.next();
            looks++;
        }
        assertTrue(looks < 200, "looks in the first 20 ms: " + looks);
        assertEquals(MILLISECOND, naps.next());
    }

    @Test
    void aResetEndsTheSleepBetweenPolls() {
        while (naps.next() < MILLISECOND) {
            // asleep by now
        }
        naps.reset();
        assertEquals(0, naps.next());
    }
}
