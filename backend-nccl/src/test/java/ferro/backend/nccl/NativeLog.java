package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.nccl.ffi.StandInHooks;
import ferro.harness.Processes;
import java.time.Duration;
import java.util.List;

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
        Processes.await(
                () -> calls(function) >= times,
                Duration.ofSeconds(10),
                function + " was not called " + times + " times");
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
        return of(lines, function).size();
    }

    /** Asserts how many communicators were aborted, and how many destroyed. */
    public static void assertFreed(List<Line> lines, int aborted, int destroyed) {
        assertEquals(aborted, count(lines, "ncclCommAbort"), lines::toString);
        assertEquals(destroyed, count(lines, "ncclCommDestroy"), lines::toString);
    }

    public static List<Line> of(List<Line> lines, String function) {
        return lines.stream().filter(line -> line.function().equals(function)).toList();
    }

    /** Names of the calls that begin with {@code nccl}, in order. */
    public static List<String> nccl(List<Line> lines) {
        return lines.stream()
                .map(Line::function)
                .filter(name -> name.startsWith("nccl"))
                .toList();
    }
}
