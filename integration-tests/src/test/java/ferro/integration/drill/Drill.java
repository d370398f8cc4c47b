package ferro.integration.drill;

import ferro.integration.JavaLine;
import ferro.integration.Links;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** How much of the drill is run: what CI has time for, or, by {@code -Pdrill}, all of it many times. */
public final class Drill {
    /** 1 MiB, as the peers' drill has it. */
    static final int ELEMENTS = 262_144;

    static final int SMALL_HEAP_MIB = 64;
    static final int LARGE_HEAP_MIB = 2_048;
    /** Memory that the other processes of a job and the machine's own want beside a large heap. */
    private static final int BESIDE_MIB = 1_536;

    private static final int FEW = 4;
    private static final double CI_SLACK = 2.5;
    private static final double CI_FLOOR_MILLIS = 1_000;

    private static final int ROUNDS = Integer.getInteger("drill.rounds", 0);

    private Drill() {}

    /** Returns how many cores the ranks have here, all together. */
    public static int cores() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** Returns how late something may be that is promised on an idle machine; CI's do other work, which is no reason for more. */
    public static double allowedMillis(double promisedMillis) {
        return whole() ? promisedMillis : Math.max(CI_FLOOR_MILLIS, CI_SLACK * promisedMillis);
    }

    /** Whether this is the long one, on an idle machine. */
    public static boolean whole() {
        return ROUNDS > 0;
    }

    /** So many calls before a fault; those whose times do not count need not be compiled. */
    static int warmUpCalls() {
        return whole() ? 100 : 10;
    }

    /** CI's processes start fast; those whose times count run as the launcher's do where ranks have no two cores each. */
    static List<String> javaOptions() {
        List<String> options = new ArrayList<>(List.of("-XX:+UseSerialGC"));
        if (!whole()) {
            options.add("-XX:TieredStopAtLevel=1");
        }
        options.addAll(JavaLine.archivedRank());
        return options;
    }

    /** Returns how often something is measured that takes long, at most so many times. */
    public static int roundsUpTo(int most) {
        return whole() ? Math.min(ROUNDS, most) : 1;
    }

    /** Returns each of these over every medium, as often as the drill goes round. */
    static Stream<Cell> rounds(Stream<Cell> cells) {
        return rounds(cells, ROUNDS);
    }

    /** The same a quarter as often: what takes long, and what is done beside busy processes. */
    static Stream<Cell> fewRounds(Stream<Cell> cells) {
        return rounds(cells, Math.max(1, ROUNDS / FEW));
    }

    private static Stream<Cell> rounds(Stream<Cell> cells, int rounds) {
        List<Cell> once =
                cells.flatMap(cell -> Links.measured().stream().map(cell::over)).toList();
        return IntStream.rangeClosed(1, rounds)
                .boxed()
                .flatMap(round -> once.stream().map(cell -> cell.inRound(round)));
    }

    static Stream<Cell> everyVictim(Cell cell) {
        return DrillJob.all().stream().map(cell::of);
    }

    static String missingMemory(int heapMiB) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            long availableMiB = lines.filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                    .findFirst()
                    .orElse(0);
            boolean enough = heapMiB == SMALL_HEAP_MIB || availableMiB >= heapMiB + BESIDE_MIB;
            return enough
                    ? ""
                    : "a heap of " + heapMiB + " MiB wants " + BESIDE_MIB + " MiB beside it, found " + availableMiB
                            + " MiB";
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
