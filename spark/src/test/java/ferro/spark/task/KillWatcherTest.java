package ferro.spark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the thread that polls for a kill. Spark before 4.2 calls no listener. */
class KillWatcherTest {
    private final TaskContext task = TaskContext$.MODULE$.empty();
    private final List<KillWatcher> watches = new ArrayList<>();

    @AfterEach
    void close() {
        watches.forEach(KillWatcher::close);
    }

    private void poll(Consumer<String> killed) {
        watches.add(KillWatcher.polling(task, killed));
    }

    private CompletableFuture<String> polled() {
        CompletableFuture<String> notified = new CompletableFuture<>();
        poll(notified::complete);
        return notified;
    }

    @Test
    void thePollingThreadReportsAKillWithItsReason() throws Exception {
        CompletableFuture<String> notified = polled();

        task.markInterrupted("a test");

        assertEquals("a test", notified.get(30, TimeUnit.SECONDS));
    }

    private void awaitPolls() throws Exception {
        for (int more = 0; more < 3; more++) {
            polled().get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aKillIsReportedOnce() throws Exception {
        AtomicInteger count = new AtomicInteger();
        poll(reason -> count.incrementAndGet());

        task.markInterrupted("a test");
        awaitPolls();

        assertEquals(1, count.get());
    }

    @Test
    void aClosedWatchReportsNothing() throws Exception {
        CompletableFuture<String> listening = new CompletableFuture<>();
        CompletableFuture<String> polled = new CompletableFuture<>();
        KillWatcher.over(task, listening::complete).close();
        KillWatcher.polling(task, polled::complete).close();

        task.markInterrupted("a test");
        awaitPolls();

        assertFalse(listening.isDone());
        assertFalse(polled.isDone());
    }
}
