package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Looks at processes by their pid, as the kernel shows them. */
final class Processes {
    private Processes() {}

    /** Ends one process as {@code kill -9} does. */
    static void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Whether it runs; one that only waits for its parent to ask for its exit code does not. */
    static boolean runs(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", "" + pid, "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException gone) {
            return false;
        }
    }

    /** Waits until a process has ended. */
    static void awaitEnd(long pid, Duration patience) throws InterruptedException {
        await(() -> !runs(pid), patience, "process " + pid + " still runs");
    }

    /** Waits until something holds of which nobody sends word: it is looked at every few milliseconds. */
    static void await(BooleanSupplier wanted, Duration patience, String otherwise) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!wanted.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, otherwise + " after " + patience);
            Thread.sleep(10);
        }
    }
}
