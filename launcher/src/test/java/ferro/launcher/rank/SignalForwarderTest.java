package ferro.launcher.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** Which part of the launcher gets a signal, at each moment of a job. */
class SignalForwarderTest {
    private final List<String> early = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private final SignalForwarder signals = new SignalForwarder(events, early::add);

    @Test
    void aSignalBeforeTheRendezvousEndsTheLauncherAtOnce() {
        signals.heard("TERM");

        signals.interruptMe();

        assertTrue(Thread.interrupted());
        assertEquals(143, signals.beforeAnyRank().exitCode());
        assertEquals(
                "was ended by signal TERM before a rank was started",
                signals.beforeAnyRank().getMessage());
    }

    @Test
    void aPassedOnSignalDoesNotInterruptTheLauncher() {
        signals.interruptMe();
        signals.heard("USR1");
        assertFalse(Thread.interrupted());
        signals.tell((name, times) -> told.add(name + " " + times));

        signals.ranksStart();
        signals.heard("XCPU");

        assertEquals(List.of("USR1"), early);
        assertEquals(List.of(new JobEvent.SignalEvent("XCPU")), List.copyOf(events));
        assertEquals(List.of(), told);
    }

    @Test
    void earlySignalsAreSentToOthersOnceTheyCanBe() {
        signals.interruptMe();
        signals.heard("INT");
        signals.heard("INT");

        signals.tell((name, times) -> told.add(name + " " + times));

        assertEquals(List.of("INT 1", "INT 2"), told);
        assertFalse(Thread.interrupted());
    }

    /** The ranks of the generation before may have taken the whole wait to end. */
    @Test
    void aSignalWhileRanksEndedEndsAWaitWithoutTime() throws InterruptedException {
        signals.holdBack(Duration.ZERO);
        signals.tell((name, times) -> {});
        signals.ranksStart();
        signals.heard("TERM");
        signals.begin(new LinkedBlockingQueue<>(), 1);

        assertThrows(InterruptedException.class, () -> signals.holdBack(Duration.ZERO));
        assertEquals(143, signals.beforeAnyRank().exitCode());
    }

    @Test
    void aSignalBetweenTwoGenerationsEndsTheRestartDelay() {
        signals.tell((name, times) -> told.add(name + " " + times));
        signals.ranksStart();
        BlockingQueue<JobEvent> second = new LinkedBlockingQueue<>();

        signals.begin(second, 3);
        signals.heard("USR1");
        signals.heard("TERM");
        signals.interruptMe();

        assertTrue(Thread.interrupted());
        assertEquals(
                "was ended by signal TERM before generation 3 was started",
                signals.beforeAnyRank().getMessage());
        assertEquals(List.of("USR1"), early);
        assertEquals(List.of(), told);
        assertEquals(List.of(new JobEvent.StopSignalEvent("TERM", 1)), List.copyOf(second));
        assertEquals(List.of(), List.copyOf(events));
    }
}
