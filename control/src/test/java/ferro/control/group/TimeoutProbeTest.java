package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.BitSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The ranks that are blamed at a deadline if answers come late. */
class TimeoutProbeTest {
    private static final CallHeader BARRIER = CallHeader.of(9, 1, 77, "barrier");
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    /** A time longer than the wait for answers after a deadline without a pause. */
    private static final Duration LATE = Duration.ofMillis(150);

    private final HandDriven group = new HandDriven(3);

    /** Returns the ranks that rank 0 blames. Rank 2 has not made the call, and all answers come late. */
    private BitSet blamed(TimeoutProbe probe) {
        group.ranks.get(0).called(1, BARRIER.call());
        group.ranks.get(1).called(1, BARRIER.call());
        group.statuses[1] = new RankStatus(1, "barrier", "", Set.of(2), 0);
        long begun = group.nanoTime();
        long deadline = begun + TIMEOUT.toNanos();
        probe.begin();
        while (!probe.mayJudge(BARRIER, null, begun, deadline, group.nanoTime())) {
            group.pass(Duration.ofMillis(5));
            if (group.nanoTime() - deadline > LATE.toNanos()) {
                group.deliverAll();
            }
        }
        BitSet waitedFor = new BitSet();
        waitedFor.set(1, 3);
        return probe.collective(1, begun, waitedFor, 0).culprits();
    }

    @Test
    @DisplayName("row 4: ranks whose answers a paused process has not read are asked again before they are blamed")
    void aPausedProcessQueriesAgainBeforeItBlames() {
        group.pausedNanos = Duration.ofMillis(200).toNanos();
        assertEquals("{2}", blamed(group.ranks.get(0).timeoutProbe()).toString());
    }

    @Test
    void aPausedProcessQueriesAgainInEachCall() {
        group.pausedNanos = Duration.ofMillis(200).toNanos();
        TimeoutProbe probe = group.ranks.get(0).timeoutProbe();
        for (int call = 1; call <= 4; call++) {
            assertEquals("{2}", blamed(probe).toString(), "call " + call);
        }
    }

    @Test
    @DisplayName("row 4: ranks that do not answer soon after the deadline are blamed")
    void aProcessThatWasNotPausedDoesNotQueryAgain() {
        assertEquals("{1, 2}", blamed(group.ranks.get(0).timeoutProbe()).toString());
    }
}
