package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Timers of a group whose context has no thread for them. */
class TimersTest {
    private static final String REFUSED =
            "unable to create native thread: possibly out of memory or process/resource limits reached";

    @Test
    void aTaskThatCannotBeScheduledRunsAfterItsErrorIsReported() {
        List<String> order = new ArrayList<>();
        ScheduledThreadPoolExecutor none = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                throw new OutOfMemoryError(REFUSED);
            }
        };
        Timers timers = new Timers(() -> none, () -> 7, error -> order.add(error.getMessage()));

        timers.later(() -> order.add("task"), TimeUnit.HOURS.toNanos(3));

        assertEquals(List.of(REFUSED, "task"), order);
    }
}
