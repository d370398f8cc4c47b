package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What counts as waiting for a rank's stream, on a clock of the test's own. */
class OutputTimeoutTest {
    private final AtomicLong nanos = new AtomicLong(17);
    private final OutputTimeout patience = new OutputTimeout(nanos::get);

    @Test
    void onlyTimeSpentWaitingForBytesCounts() {
        patience.waits();
        pass(1_000);
        patience.renew();
        pass(100);
        patience.got(7);
        pass(60_000);

        assertEquals(OutputTimeout.MILLIS - 100, patience.leftMillis());

        patience.waits();
        pass(30);

        assertEquals(OutputTimeout.MILLIS - 130, patience.leftMillis());
    }

    @Test
    void aReaderThatWasBlockedGetsItsFullWaitingTime() {
        patience.waits();
        pass(5);
        patience.got(1 << 16);
        patience.renew();
        pass(60_000);

        assertEquals(OutputTimeout.MILLIS, patience.leftMillis());
    }

    @Test
    void aChildThatPrintsWithoutEndIsNotAwaited() {
        patience.renew();
        for (long bytes = 0; bytes < OutputTimeout.MOST_BYTES; bytes += 1 << 16) {
            patience.waits();
            patience.got(1 << 16);
        }

        assertEquals(OutputTimeout.MILLIS, patience.leftMillis());

        patience.waits();
        patience.got(1);

        assertEquals(0, patience.leftMillis());
    }

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
