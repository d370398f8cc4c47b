package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ListenersTest {
    private final Deque<Runnable> told = new ArrayDeque<>();
    private final List<String> heard = new ArrayList<>();
    private Executor executor = told::add;
    private final Listeners listeners = new Listeners("pair", task -> executor.execute(task), false);

    private void tell(String text) {
        listeners.tell(GroupEvent.of(Kind.SUSPECTED, "pair", 0, List.of(1), text));
    }

    private void runAll() {
        while (!told.isEmpty()) {
            told.remove().run();
        }
    }

    @Test
    void anErrorOfAListenerDoesNotStopOtherListeners() {
        listeners.add(event -> {
            throw new AssertionError("of the test's listener");
        });
        listeners.add(event -> heard.add(event.text()));

        tell("first");
        runAll();
        tell("second");
        runAll();

        assertEquals(List.of("first", "second"), heard);
    }

    @Test
    void anEventThatTheExecutorRefusedIsDeliveredBeforeTheNext() {
        listeners.add(event -> heard.add(event.text()));
        executor = task -> {
            throw new RejectedExecutionException("no thread, says the test");
        };
        tell("first");
        executor = told::add;
        tell("second");
        runAll();

        assertEquals(List.of("first", "second"), heard);
    }

    @Test
    void aBlockingListenerDelaysNoOther() {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch other = new CountDownLatch(2);
        executor = task -> {
            Thread thread = new Thread(task, "test-listener");
            thread.setDaemon(true);
            thread.start();
        };
        listeners.add(event -> assertDoesNotThrow(() -> never.await()));
        listeners.add(event -> other.countDown());

        tell("first");
        tell("second");

        assertTrue(assertDoesNotThrow(() -> other.await(10, TimeUnit.SECONDS)), "held back by another listener");
        never.countDown();
    }

    @Test
    void aFailureIsTheLastEventAndReachesLaterListeners() {
        listeners.add(event -> heard.add(event.text()));
        tell("first");
        listeners.tell(GroupEvent.of(Kind.FAILED, "pair", 0, List.of(1), "failed"));
        tell("afterwards");
        listeners.add(event -> heard.add("late: " + event.text()));
        runAll();

        assertEquals(List.of("first", "failed", "late: failed"), heard);
    }
}
