package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lines of the launcher itself, where nobody reads what it prints. */
@Timeout(30)
class ScreenTest {
    private final CountDownLatch stuck = new CountDownLatch(1);
    private final CountDownLatch read = new CountDownLatch(1);
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** A pipe that is full until the test reads it. */
    private final OutputStream full = new OutputStream() {
        @Override
        public void write(int next) {
            stuck.countDown();
            try {
                read.await();
            } catch (InterruptedException unexpected) {
                Thread.currentThread().interrupt();
            }
        }
    };

    @AfterEach
    void readWhatIsLeft() {
        read.countDown();
    }

    @Test
    void lineIsPrintedBesideAStreamThatNobodyReadsOnceThereIsAHurry() throws Exception {
        Screen screen = new Screen(new Screen.ScreenStream(full, false), new Screen.ScreenStream(err, false));
        CompletableFuture.runAsync(() -> writeOut(screen));
        stuck.await();
        CompletableFuture<Void> told = CompletableFuture.runAsync(() -> screen.note("one"));

        screen.hurry();
        told.get(20, TimeUnit.SECONDS);
        screen.note("two");

        // a sender in a hurry goes on when it has waited for long, and the line comes then
        while (err.toString(StandardCharsets.UTF_8).lines().count() < 2) {
            TimeUnit.MILLISECONDS.sleep(2);
        }
        assertEquals("ferro: one\nferro: two\n", err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void lineThatNobodyReadsKeepsItsSenderUntilThereIsAHurry() throws Exception {
        Screen screen = new Screen(new Screen.ScreenStream(err, false), new Screen.ScreenStream(full, false));
        CompletableFuture<Void> told = CompletableFuture.runAsync(() -> screen.note("one"));
        stuck.await();
        assertTrue(!told.isDone(), "gave up without a hurry");

        screen.hurry();
        told.get(20, TimeUnit.SECONDS);
        CompletableFuture.runAsync(() -> screen.withoutPrefixes().note("two")).get(20, TimeUnit.SECONDS);
    }

    private static void writeOut(Screen screen) {
        try {
            screen.write(Screen.Name.OUT, new byte[] {'x'}, 1);
        } catch (IOException unexpected) {
            throw new UncheckedIOException(unexpected);
        }
    }
}
