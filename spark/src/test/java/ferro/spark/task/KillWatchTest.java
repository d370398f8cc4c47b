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
class KillWatchTest {
    private final TaskContext task = TaskContext$.MODULE$.empty();
    private final List<KillWatch> watches = new ArrayList<>();

    @AfterEach
    void close() {
        watches.forEach(KillWatch::close);
    }

    private void look(Consumer<String> killed) {
        watches.add(KillWatch.looking(task, killed));
    }

    private CompletableFuture<String> looked() {
        CompletableFuture<String> told = new CompletableFuture<>();
        look(told::complete);
        return told;
    }

    @Test
    void threadThatLooksTellsOfAKillWithItsReason() throws Exception {
        CompletableFuture<String> told = looked();

        task.markInterrupted("a test");

        assertEquals("a test", told.get(30, TimeUnit.SECONDS));
    }

    /** Blocks until the watch has polled three more times. */
    private void awaitLooks() throws Exception {
        for (int more = 0; more < 3; more++) {
            looked().get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void killIsToldOnce() throws Exception {
        AtomicInteger count = new AtomicInteger();
        look(reason -> count.incrementAndGet());

        task.markInterrupted("a test");
        awaitLooks();

        assertEquals(1, count.get());
    }

    @Test
    void watchThatIsClosedTellsNothing() throws Exception {
        CompletableFuture<String> listening = new CompletableFuture<>();
        CompletableFuture<String> looking = new CompletableFuture<>();
        KillWatch.over(task, listening::complete).close();
        KillWatch.looking(task, looking::complete).close();

        task.markInterrupted("a test");
        awaitLooks();

        assertFalse(listening.isDone());
        assertFalse(looking.isDone());
    }
}
