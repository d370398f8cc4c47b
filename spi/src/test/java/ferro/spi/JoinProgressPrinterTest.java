package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When the lines of a join are due, on a clock of this test. */
class JoinProgressPrinterTest {
    private final ManualContext context = new ManualContext();
    private final List<String> printed = new ArrayList<>();

    @AfterEach
    void end() {
        context.timers.shutdownNow();
    }

    @Test
    void theFirstLineIsPrintedAfter3SecondsAndLaterOnesEvery10() {
        JoinProgressPrinter.begin("world", context).print(() -> "waiting", printed::add);

        assertEquals(3_000, context.timers.firstMillis);
        assertEquals(10_000, context.timers.laterMillis);
        context.timers.due();
        assertEquals(List.of("waiting"), printed);
    }

    @Test
    void aLaterPartOfAJoinKeepsTheTimesOfTheEarlierPart() {
        JoinProgressPrinter.PhasePrinter first =
                JoinProgressPrinter.begin("world", context).print(() -> "first", printed::add);
        context.seconds(3);
        context.timers.due();
        context.seconds(1);
        first.close();

        JoinProgressPrinter.resume("world", context).print(() -> "second", printed::add);

        assertEquals(9_000, context.timers.firstMillis);
        JoinProgressPrinter.resume("other", context).print(() -> "other", printed::add);
        assertEquals(3_000, context.timers.firstMillis);
        assertEquals(List.of("first"), printed);
    }

    @Test
    void aLatePartOfAJoinWaitsThreeSecondsForItsFirstLine() {
        JoinProgressPrinter lines = JoinProgressPrinter.begin("world", context);
        context.seconds(60);

        JoinProgressPrinter.PhasePrinter later =
                JoinProgressPrinter.resume("world", context).waiting(() -> "again");

        assertEquals(3_000, context.timers.firstMillis);
        context.seconds(2);
        later.close();
        assertEquals(Duration.ofSeconds(2), lines.waited());
    }

    @Test
    void noLineIsPrintedAfterTheEndOrWithoutText() {
        JoinProgressPrinter.PhasePrinter ended =
                JoinProgressPrinter.begin("world", context).print(() -> "ended", printed::add);
        ended.close();
        context.timers.due();
        JoinProgressPrinter.resume("world", context).print(() -> "", printed::add);
        context.timers.due();

        assertEquals(List.of(), printed);
    }

    @Test
    void onlyWaitsForOthersAreCounted() {
        JoinProgressPrinter lines = JoinProgressPrinter.begin("world", context);
        JoinProgressPrinter.PhasePrinter own = lines.print(() -> "starting", printed::add);
        context.seconds(4);
        own.close();
        JoinProgressPrinter.PhasePrinter waiting =
                JoinProgressPrinter.resume("world", context).waiting(() -> "waiting for ranks [1] of 2");
        context.seconds(5);
        waiting.close();
        waiting.close();

        assertEquals(Duration.ofSeconds(5), lines.waited());
        assertTrue(printed.isEmpty(), printed::toString);
    }

    /** Keeps the last task that is to run again and again. */
    private static final class KeptTimers extends ScheduledThreadPoolExecutor {
        private Runnable task;
        private long firstMillis;
        private long laterMillis;

        KeptTimers() {
            super(1);
        }

        void due() {
            task.run();
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable again, long first, long later, TimeUnit unit) {
            task = again;
            firstMillis = unit.toMillis(first);
            laterMillis = unit.toMillis(later);
            return schedule(() -> {}, 1, TimeUnit.DAYS);
        }
    }

    /** A context whose clock stands still between two calls of a test. */
    private static final class ManualContext extends TestContext {
        private final KeptTimers timers = new KeptTimers();

        ManualContext() {
            now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(1);
        }

        void seconds(long passed) {
            now += TimeUnit.SECONDS.toNanos(passed);
        }

        @Override
        public ScheduledExecutorService background() {
            return timers;
        }
    }
}
