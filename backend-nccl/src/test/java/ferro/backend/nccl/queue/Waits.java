package ferro.backend.nccl.queue;

import java.time.Duration;

/** Bounds of what tests wait for. */
public final class Waits {
    private static final Duration PLENTY = Duration.ofSeconds(20);

    private Waits() {}

    /** Returns a deadline that only a fault reaches. */
    public static Deadline plenty() {
        return Deadline.after(PLENTY, System::nanoTime);
    }
}
