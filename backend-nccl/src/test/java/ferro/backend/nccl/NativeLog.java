package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.ffi.StandInHooks;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What the stand-in libraries were called with. */
public final class NativeLog {
    private NativeLog() {}

    /** One call. */
    public record Line(String function, int device, int thread, List<String> arguments) {
        public static Line of(String text) {
            String[] parts = text.split("\\|", -1);
            return new Line(
                    parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), List.of(parts[3].split(",")));
        }
    }

    public static void start() {
        StandInHooks.standInLogClear();
        StandInHooks.standInRecord(1);
    }

    /** Waits until a function has been called since {@link #start}; the record goes on. */
    public static void await(String function) {
        await(function, 1);
    }

    /** Waits until a function has been called a number of times. */
    public static void await(String function, int times) {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (calls(function) < times) {
            assertTrue(System.nanoTime() < limit, () -> function + " was not called: " + StandInHooks.log());
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static long calls(String function) {
        return StandInHooks.log()
                .lines()
                .filter(line -> line.startsWith(function + "|"))
                .count();
    }

    public static List<Line> stop() {
        StandInHooks.standInRecord(0);
        return StandInHooks.log()
                .lines()
                .filter(text -> !text.isEmpty())
                .map(Line::of)
                .toList();
    }

    public static long count(List<Line> lines, String function) {
        return lines.stream().filter(line -> line.function().equals(function)).count();
    }

    /** Names of the calls that begin with {@code nccl}, in order. */
    public static List<String> nccl(List<Line> lines) {
        return lines.stream()
                .map(Line::function)
                .filter(name -> name.startsWith("nccl"))
                .toList();
    }
}
