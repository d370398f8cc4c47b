package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What counts as waiting for a rank's stream, on a clock of the test's own. */
class PatienceTest {
    private final AtomicLong nanos = new AtomicLong(17);
    private final Patience patience = new Patience(nanos::get);

    @Test
    void onlyTimeSpentWaitingForBytesCounts() {
        patience.waits();
        pass(1_000);
        patience.renew();
        pass(100);
        patience.got(7);
        pass(60_000);

        assertEquals(Patience.MILLIS - 100, patience.leftMillis());

        patience.waits();
        pass(30);

        assertEquals(Patience.MILLIS - 130, patience.leftMillis());
    }

    @Test
    void aReaderThatWasBlockedGetsItsFullWaitingTime() {
        patience.waits();
        pass(5);
        patience.got(1 << 16);
        patience.renew();
        pass(60_000);

        assertEquals(Patience.MILLIS, patience.leftMillis());
    }

    @Test
    void aChildThatPrintsWithoutEndIsNotAwaited() {
        patience.renew();
        for (long bytes = 0; bytes < Patience.MOST_BYTES; bytes += 1 << 16) {
            patience.waits();
            patience.got(1 << 16);
        }

        assertEquals(Patience.MILLIS, patience.leftMillis());

        patience.waits();
        patience.got(1);

        assertEquals(0, patience.leftMillis());
    }

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
