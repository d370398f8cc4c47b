package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import ferro.harness.OnThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
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
            Uninterruptibles.awaitUninterruptibly(read);
        }
    };

    @AfterEach
    void readWhatIsLeft() {
        read.countDown();
    }

    @Test
    void duringAHurryALineIsPrintedBesideABlockedStream() throws Exception {
        Screen screen = new Screen(full, err);
        OnThread.run(() -> writeOut(screen));
        stuck.await();
        CompletableFuture<Void> told = OnThread.run(() -> screen.note("one"));

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
    void aBlockedLineKeepsItsSenderUntilAHurry() throws Exception {
        Screen screen = new Screen(err, full);
        CompletableFuture<Void> told = OnThread.run(() -> screen.note("one"));
        stuck.await();
        assertTrue(!told.isDone(), "gave up without a hurry");

        screen.hurry();
        told.get(20, TimeUnit.SECONDS);
        OnThread.run(() -> screen.withoutPrefixes().note("two")).get(20, TimeUnit.SECONDS);
    }

    @Test
    void aLineIsPrintedInTurnAmongRanksThatPrintEndlessly() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        OutputStream slow = new OutputStream() {
            @Override
            public void write(int next) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(150));
            }
        };
        Screen screen = new Screen(slow, err);
        CountDownLatch printing = new CountDownLatch(2);
        List<CompletableFuture<Void>> ranks = Stream.generate(() -> OnThread.run(() -> {
                    while (!over.get()) {
                        writeOut(screen);
                        printing.countDown();
                    }
                }))
                .limit(2)
                .toList();
        printing.await();

        CompletableFuture<Void> told = OnThread.run(() -> screen.note("one"));
        try {
            told.get(20, TimeUnit.SECONDS);
        } finally {
            over.set(true);
        }
        ranks.forEach(CompletableFuture::join);

        assertEquals("ferro: one\n", err.toString(StandardCharsets.UTF_8));
    }

    private static void writeOut(Screen screen) {
        try {
            screen.write(Screen.StreamName.OUT, new byte[] {'x'}, 1);
        } catch (IOException unexpected) {
            throw new UncheckedIOException(unexpected);
        }
    }
}
