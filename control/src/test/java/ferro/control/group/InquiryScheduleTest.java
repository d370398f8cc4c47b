package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The times at which a waiting rank asks other ranks, and the ranks that it asks. */
class InquiryScheduleTest {
    private static final long MILLI = 1_000_000L;
    private static final long MINUTE = 60_000 * MILLI;

    @ParameterizedTest
    @ValueSource(ints = {2, 33, 128, 1_000, 10_000})
    void intervalsNeverShrink(int worldSize) {
        InquirySchedule schedule = new InquirySchedule(0, worldSize);
        schedule.begin(100 * MINUTE, 0);
        long now = 0;
        long before = 0;
        for (int inquiry = 0; inquiry < 20; inquiry++) {
            long interval = schedule.remainingNanos(now);
            assertTrue(interval >= before, interval + " ns after " + before + " ns");
            before = interval;
            now += interval;
            assertTrue(schedule.isDue(now));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {160, 1_000, 10_000})
    void allRanksTogetherSendAtMost500QueriesPerSecond(int worldSize) {
        InquirySchedule schedule = new InquirySchedule(0, worldSize);
        schedule.begin(100 * MINUTE, 0);
        long inquiries = 0;
        for (long now = 0; now < 10 * MINUTE; now += 10 * MILLI) {
            inquiries += schedule.isDue(now) ? 1 : 0;
        }
        long perSecond = inquiries * InquirySchedule.MAX_ASKED * worldSize / 600;
        assertTrue(perSecond <= 500, perSecond + " queries a second");
    }

    @Test
    void everyRankThatIsWaitedForIsAskedInTurn() {
        InquirySchedule schedule = new InquirySchedule(38, 40);
        BitSet waitedFor = new BitSet();
        for (int rank : new int[] {2, 5, 7, 11, 20, 39}) {
            waitedFor.set(rank);
        }
        assertEquals("{2, 5, 7, 39}", schedule.nextAsked(waitedFor).toString());
        assertEquals("{2, 11, 20, 39}", schedule.nextAsked(waitedFor).toString());
        assertEquals("{5, 7, 11, 20}", schedule.nextAsked(waitedFor).toString());
        waitedFor.clear(0, 39);
        assertEquals("{39}", schedule.nextAsked(waitedFor).toString());
        assertEquals("{0, 1, 2, 3}", schedule.nextAsked(new BitSet()).toString(), "any rank may be waited for");
        waitedFor.set(38);
        assertEquals("{39}", schedule.nextAsked(waitedFor).toString(), "a rank does not ask itself");
    }
}
