package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LeakReportTest {
    /** What a report said. */
    private record Said(String text, Throwable opened) {}

    private final CompletableFuture<Said> said = new CompletableFuture<>();
    private final CountDownLatch released = new CountDownLatch(1);

    @Test
    @DisplayName("1-03: a forgotten close is reported with the place that opened it, and made up for")
    void aForgottenCloseIsReported() throws Exception {
        WeakReference<Object> owner = openAndForget();
        collect(owner);
        Said report = said.get(60, TimeUnit.SECONDS);
        assertTrue(report.text().startsWith("NcclRankComm[rank 1 of 2] was never closed"), report.text());
        assertTrue(
                Arrays.stream(report.opened().getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("openAndForget")),
                "the place that opened it");
        assertTrue(released.await(60, TimeUnit.SECONDS));
    }

    private WeakReference<Object> openAndForget() {
        Object owner = new Object();
        LeakReport.watchAndFree(owner, "NcclRankComm[rank 1 of 2]", log(said::complete), released::countDown);
        return new WeakReference<>(owner);
    }

    @Test
    void aClosedObjectIsNeverReported() throws Exception {
        AtomicInteger reports = new AtomicInteger();
        WeakReference<Object> closed = openAndClose(reports);
        collect(closed);
        // the cleaner has one thread: once it has reported a later leak it has been through the earlier one
        collect(openAndForget());
        said.get(60, TimeUnit.SECONDS);
        assertEquals(0, reports.get());
        assertFalse(said.isCompletedExceptionally());
    }

    private WeakReference<Object> openAndClose(AtomicInteger reports) {
        Object owner = new Object();
        LeakReport watch = LeakReport.watchAndFree(
                owner, "closed", log(said -> reports.incrementAndGet()), reports::incrementAndGet);
        watch.closed();
        return new WeakReference<>(owner);
    }

    private static void collect(WeakReference<Object> owner) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (owner.get() != null && System.nanoTime() - deadline < 0) {
            System.gc();
        }
        assertEquals(null, owner.get(), "the collector did not come");
    }

    private static System.Logger log(Consumer<Said> reports) {
        return new System.Logger() {
            @Override
            public String getName() {
                return "reports";
            }

            @Override
            public boolean isLoggable(Level level) {
                return true;
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String text, Throwable opened) {
                assertEquals(Level.WARNING, level);
                reports.accept(new Said(text, opened));
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
                throw new AssertionError("a report has a stack trace, found " + format);
            }
        };
    }
}
