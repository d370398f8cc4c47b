package ferro.launcher.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.store.LauncherClient;
import ferro.launcher.input.JobStartException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PrintScheduleTest extends LaunchersOnLoopback {
    private final AtomicLong clock = new AtomicLong();

    @Test
    void theFirstLineComesAfterThreeSecondsAndTheNextThirtyLater() {
        PrintSchedule times = new PrintSchedule(clock::get);
        assertEquals(Duration.ofSeconds(3), times.left());
        passes(Duration.ofSeconds(4));
        assertEquals(Duration.ZERO, times.left());

        times.printed();
        passes(Duration.ofMillis(100));
        assertEquals(Duration.ofMillis(29_900), times.left());
    }

    private void passes(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    /** The clock goes on by more than the distance of two lines whenever it is read, so that each line is due at once. */
    @Test
    void launchersThatJoinKeepTheTimesOfTheirWaitingLines() throws Exception {
        long step = PrintSchedule.LATER.plusSeconds(1).toNanos();
        BlockingQueue<Set<Integer>> heard = new LinkedBlockingQueue<>();
        PrintSchedule times = new PrintSchedule(() -> clock.addAndGet(step));
        LauncherEntry first = entry(0, 2, 2, "1", "", "");
        LauncherClient zero = connected(first);
        Thread waiting = new Thread(() -> rendezvous(zero, first, heard, times), "test-launcher");
        waiting.start();
        try {
            for (int line = 0; line < 3; line++) {
                assertEquals(Set.of(1), heard.poll(LONG.toSeconds(), TimeUnit.SECONDS));
            }
        } finally {
            waiting.interrupt();
            waiting.join();
        }
    }

    private static void rendezvous(
            LauncherClient zero, LauncherEntry first, BlockingQueue<Set<Integer>> heard, PrintSchedule times) {
        try {
            LauncherConnections.meet(
                    zero,
                    first,
                    LONG_TIMES,
                    new WaitListener() {
                        @Override
                        public void missing(Set<Integer> nodes) {
                            heard.add(nodes);
                        }

                        @Override
                        public PrintSchedule lines() {
                            return times;
                        }
                    },
                    GenerationStart.ONLY);
        } catch (JobStartException | InterruptedException ended) {
            // the interrupt of the test
        }
    }
}
