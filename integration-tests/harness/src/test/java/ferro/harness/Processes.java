package ferro.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Reads the state of processes by their pid, as the kernel shows them. */
public final class Processes {
    private static final long POLL_NANOS = 2_000_000;

    private Processes() {}

    public static void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    public static void signal(long pid, String name) throws IOException, InterruptedException {
        if (!Child.succeeds("kill", "-s", name, "" + pid)) {
            throw new AssertionError("kill -s " + name + " " + pid + " fails");
        }
    }

    /** Whether it runs; one that only waits for its parent to ask for its exit code does not. */
    public static boolean runs(long pid) {
        return state(pid) != 'Z';
    }

    /** Returns the state of a process as /proc shows it, such as T for a stopped one; Z if there is no such process. */
    public static char state(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", "" + pid, "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException gone) {
            return 'Z';
        }
    }

    public static void awaitEnd(long pid, Duration timeout) {
        await(() -> !runs(pid), timeout, "process " + pid + " still runs");
    }

    /** Waits until something holds of which nobody sends word: polled every few milliseconds. */
    public static void await(BooleanSupplier wanted, Duration timeout, String otherwise) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!wanted.getAsBoolean()) {
            if (System.nanoTime() >= deadline) {
                throw new AssertionError(otherwise + " after " + timeout);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
