package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

/**
 * What is promised when a rank fails: the job has ended within two seconds. Prints what was measured.
 *
 * @param what      that is stopped
 * @param fromNanos when the rank failed
 */
record TwoSeconds(String what, long fromNanos) {
    private static final Duration PROMISED = Duration.ofSeconds(2);
    /** On a full machine the launcher's own end, and the programs it starts to kill, wait for a core like all others. */
    private static final Duration NOISE = Duration.ofMillis(500);

    static TwoSeconds start(String what) {
        return new TwoSeconds(what, System.nanoTime());
    }

    /** To be called when the launcher has ended. */
    void check() {
        Duration took = Duration.ofNanos(System.nanoTime() - fromNanos);
        System.out.println("job of " + what + " ended " + took.toMillis() + " ms after the failure");
        assertTrue(took.compareTo(PROMISED.plus(NOISE)) < 0, "job of " + what + " took " + took);
    }
}
