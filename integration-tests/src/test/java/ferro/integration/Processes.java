package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Looks at processes by their pid, as the kernel shows them. */
public final class Processes {
    private static final long LOOK_NANOS = 2_000_000;

    private Processes() {}

    /** Ends one process as {@code kill -9} does. */
    public static void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Sends a signal to one process. */
    public static void signal(long pid, String name) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-s", name, "" + pid).start().waitFor();
        assertTrue(code == 0, "kill -s " + name + " " + pid + " ended with code " + code);
    }

    /** Whether it runs; one that only waits for its parent to ask for its exit code does not. */
    public static boolean runs(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", "" + pid, "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException gone) {
            return false;
        }
    }

    /** Waits until a process has ended. */
    public static void awaitEnd(long pid, Duration patience) {
        await(() -> !runs(pid), patience, "process " + pid + " still runs");
    }

    /** Waits until something holds of which nobody sends word: it is looked at every few milliseconds. */
    public static void await(BooleanSupplier wanted, Duration patience, String otherwise) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!wanted.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, otherwise + " after " + patience);
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }
}
