package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

/**
 * What is promised when a rank fails: the job has ended within two seconds. Prints what was measured.
 *
 * <p>On a full machine launchers wait for a core like all others, and that is not theirs to promise. How long is measured by
 * a thread that computes meanwhile, about as much as launchers do for the end of a job. Where cores are free it waits for
 * none, and the promise stands as it is.
 */
final class TwoSeconds {
    private static final Duration PROMISED = Duration.ofSeconds(2);
    /** For the programs that launchers start to kill, and what a measurement misses. */
    private static final Duration NOISE = Duration.ofMillis(500);

    private final String what;
    private final long fromNanos = System.nanoTime();
    private final BusyThread beside = BusyThread.start(Duration.ofMillis(300));

    private TwoSeconds(String what) {
        this.what = what;
    }

    static TwoSeconds start(String what) {
        return new TwoSeconds(what);
    }

    /** To be called when the launcher has ended. */
    void check() throws InterruptedException {
        Duration took = Duration.ofNanos(System.nanoTime() - fromNanos);
        Duration waited = beside.waitedForACore();
        System.out.println("job of " + what + " ended " + took.toMillis()
                + " ms after the failure, beside a thread that waited " + waited.toMillis() + " ms for a core");
        Duration most = PROMISED.plus(NOISE).plus(waited);
        assertTrue(took.compareTo(most) < 0, "job of " + what + " took " + took + ", need less than " + most);
    }
}
