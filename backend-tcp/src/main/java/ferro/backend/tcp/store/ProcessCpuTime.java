package ferro.backend.tcp.store;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The CPU time of this process. Messages about a rank that was itself too slow contain this time. The time is read only
 * for such a message, so a successful join has no cost. A process that is much older than the join has used CPU time
 * for other work. The text about such a process only says when the join began.
 */
final class ProcessCpuTime {
    /** Maximum age of a process at the begin of its join. An older process has done other work before the join. */
    private static final long MAX_BEFORE_MILLIS = TimeUnit.MINUTES.toMillis(1);
    /** Shortest wait for a core that a text mentions. A shorter wait does not explain a delay that users notice. */
    private static final long LEAST_MILLIS = 200;

    private final LongSupplier joinMillis;

    /** Creates an object for one join. {@code joinMillis} returns how many milliseconds the join has run. */
    ProcessCpuTime(LongSupplier joinMillis) {
        this.joinMillis = joinMillis;
    }

    /** Returns a text about the CPU time of this process since its start, to append after a semicolon. */
    String text() {
        ProcessHandle.Info own = ProcessHandle.current().info();
        Optional<Duration> age = own.startInstant().map(start -> Duration.between(start, Instant.now()));
        return text(joinMillis.getAsLong(), age, own.totalCpuDuration(), ProcessCpuTime::longestWaitMillis);
    }

    /** Returns the text for a join of this length in a process of this age. */
    static String text(long joinMillis, Optional<Duration> age, Optional<Duration> used, LongSupplier waitedMillis) {
        if (age.isEmpty() || used.isEmpty() || age.get().toMillis() - joinMillis > MAX_BEFORE_MILLIS) {
            return "this rank began to join " + seconds(Duration.ofMillis(joinMillis)) + " ago";
        }
        long waited = waitedMillis.getAsLong();
        return "this process has used " + seconds(used.get()) + " of processor time in the " + seconds(age.get())
                + " since its start"
                + (waited < LEAST_MILLIS
                        ? ""
                        : ", and a thread of it has waited " + seconds(Duration.ofMillis(waited)) + " for a core");
    }

    /** Returns the longest time that a thread of this process was ready to run but had no core; 0 if unknown. */
    private static long longestWaitMillis() {
        long longest = 0;
        try {
            for (Path thread : LinuxFiles.HOST.list("self/task", "*")) {
                longest = Math.max(longest, waitNanos(thread.resolve("schedstat")));
            }
        } catch (IOException unknown) {
            // other kernels do not have these files
        }
        return TimeUnit.NANOSECONDS.toMillis(longest);
    }

    private static long waitNanos(Path file) {
        try {
            return waitNanos(Files.readString(file));
        } catch (IOException ended) {
            return 0;
        }
    }

    /**
     * Parses the second of three numbers. The numbers are the time on a core, the time in which the thread was ready
     * but had no core, and the number of time slices.
     */
    static long waitNanos(String text) {
        String[] numbers = text.trim().split(" ");
        return numbers.length < 2 ? 0 : Long.parseLong(numbers[1]);
    }

    private static String seconds(Duration time) {
        long tenths = time.toMillis() / 100;
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
