package ferro.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class ListenersTest {
    private final Deque<Runnable> told = new ArrayDeque<>();
    private final List<String> heard = new ArrayList<>();
    private Executor executor = told::add;
    private final Listeners listeners =
            new Listeners(new GroupSpec("pair", 0, 2, Duration.ofSeconds(3)), task -> executor.execute(task), false);

    private void tell(String text) {
        listeners.tell(new GroupEvent(Kind.SUSPECTED, "pair", 0, List.of(1), text));
    }

    private void runAll() {
        while (!told.isEmpty()) {
            told.remove().run();
        }
    }

    @Test
    void anErrorOfAListenerDoesNotKeepEventsFromTheOthers() {
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
    void anEventThatNoThreadTookIsToldBeforeTheNext() {
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
}
