package ferro.backend.nccl.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.Waits;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
        Said report = said.get(20, TimeUnit.SECONDS);
        assertTrue(report.text().contains("NcclRankComm[rank 1 of 2] was never closed"), report.text());
        assertTrue(
                Arrays.stream(report.opened().getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("openAndForget")),
                "the place that opened it");
        assertTrue(released.await(20, TimeUnit.SECONDS));
    }

    private WeakReference<Object> openAndForget() {
        Object owner = new Object();
        LeakReport.watch(
                owner,
                "NcclRankComm[rank 1 of 2]",
                released::countDown,
                (text, opened) -> said.complete(new Said(text, opened)));
        return new WeakReference<>(owner);
    }

    @Test
    void whatIsClosedIsNeverReported() throws Exception {
        AtomicInteger reports = new AtomicInteger();
        WeakReference<Object> closed = openAndClose(reports);
        collect(closed);
        // the cleaner has one thread: once it has reported a later leak it has been through the earlier one
        collect(openAndForget());
        said.get(20, TimeUnit.SECONDS);
        assertEquals(0, reports.get());
        assertFalse(said.isCompletedExceptionally());
    }

    private WeakReference<Object> openAndClose(AtomicInteger reports) {
        Object owner = new Object();
        LeakReport watch = LeakReport.watch(
                owner, "closed", reports::incrementAndGet, (text, opened) -> reports.incrementAndGet());
        watch.closed();
        return new WeakReference<>(owner);
    }

    private static void collect(WeakReference<Object> owner) {
        Deadline deadline = Waits.plenty();
        while (owner.get() != null && !deadline.passed()) {
            System.gc();
        }
        assertEquals(null, owner.get(), "the collector did not come");
    }
}
