package ferro.integration.restarts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Processes;
import ferro.integration.LauncherRun;
import ferro.integration.drill.Drill;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A job whose ranks are killed again and again, a random one at a random moment: while it joins, in its first sum, during a
 * save, or while it closes. Each generation has to come, each sum and each loaded checkpoint has to be right, and nothing may
 * be left at the end. {@code -Pdrill} kills 100 ranks over each medium; {@code -Drestarts.seed} repeats the moments of a run.
 */
@EnabledOnOs(OS.LINUX)
@Tag("long")
class RestartDrillTest {
    private static final int RANKS = 4;
    private static final int KILLS = Drill.whole() ? 100 : 5;
    /** As long as a rank takes until it adds up, and a while more. */
    static final int LATEST_MILLIS = 1500;
    /** As long as ranks take to close, and a while more. */
    private static final int LATEST_CLOSE_MILLIS = 200;

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Pattern PID = Pattern.compile("rank (\\d+) = pid (\\d+)");

    @TempDir
    private Path folder;

    private final List<Long> all = new ArrayList<>();
    /** From a kill to the sums of the next generation on all ranks, where the next kill waits for them. */
    private final List<Long> againMillis = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    @DisplayName("row 52: random ranks are killed at random moments")
    void killsOfRandomRanksAtRandomMomentsEndInRightSumsAndLeaveNothing(String links) throws Exception {
        long seed = Long.getLong("restarts.seed", System.nanoTime());
        System.out.println("restarts.seed=" + seed);
        Random random = new Random(seed);
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        Path memory = Files.createTempDirectory(Path.of("/dev/shm"), "restarts-");
        Path end = folder.resolve("end");
        Path saved = folder.resolve("saved");
        try (LauncherRun run = LauncherRun.start(
                Map.of("TMPDIR", temporary.toString(), "FERRO_SHM_DIR", memory.toString()),
                ("run -n " + RANKS + " --links " + links + " --restarts 1 --restart-window 100ms -J-Xmx64m "
                                + SumsOfGenerations.class.getName() + " " + end + " " + saved)
                        .split(" "))) {
            long descriptors = killed(run, random);
            List<Long> last = pids(run, KILLS);
            awaitSums(run, KILLS);
            print("over " + links, againMillis);
            long after = descriptors(run);
            assertTrue(after <= descriptors + RANKS, after + " descriptors, " + descriptors + " in generation 1");
            Files.createFile(end);
            LockSupport.parkNanos(random.nextInt(LATEST_CLOSE_MILLIS) * 1_000_000L);
            // a rank that has ended already cannot be killed; a generation after this kill ends at once
            ProcessHandle.of(last.get(random.nextInt(RANKS))).ifPresent(ProcessHandle::destroyForcibly);
            assertEquals(0, run.exitCode(), run::toString);
            assertFalse(run.outLines().toString().contains("wrong"), run::toString);
            assertTrue(run.outLines().toString().contains("] done in generation "), run::toString);
            pidLines(run).forEach(line -> all.addAll(pids(line)));
        }
        assertTrue(Files.exists(saved), "no rank has saved a checkpoint");
        for (long pid : all) {
            Processes.awaitEnd(pid, SOON);
        }
        assertEquals(List.of(), inside(temporary));
        assertEquals(List.of(), inside(memory));
        Files.delete(memory);
    }

    static void print(String where, List<Long> againMillis) {
        Collections.sort(againMillis);
        if (!againMillis.isEmpty()) {
            System.out.println("from a fault to the first sum of all ranks of the next generation " + where
                    + ": median " + againMillis.get(againMillis.size() / 2) + " ms of " + againMillis);
        }
    }

    /** Kills a rank of each generation, and returns how many descriptors the launcher had in generation 1. */
    private long killed(LauncherRun run, Random random) throws Exception {
        long descriptors = 0;
        boolean joined = true;
        long killed = 0;
        for (int generation = 0; generation < KILLS; generation++) {
            List<Long> pids = pids(run, generation);
            // two generations without a join would end the job; descriptors are counted after a join
            joined = !joined || generation == 1 || random.nextBoolean();
            if (joined) {
                awaitSums(run, generation);
                if (generation > 0) {
                    againMillis.add((System.nanoTime() - killed) / 1_000_000);
                }
            }
            if (generation == 1) {
                descriptors = descriptors(run);
            }
            LockSupport.parkNanos(random.nextInt(LATEST_MILLIS) * 1_000_000L);
            killed = System.nanoTime();
            Processes.kill(pids.get(random.nextInt(RANKS)));
        }
        return descriptors;
    }

    private List<Long> pids(LauncherRun run, int generation) {
        Processes.await(
                () -> pidLines(run).size() > generation, SOON, "generation " + generation + " does not come: " + run);
        List<Long> pids = pids(pidLines(run).get(generation));
        assertEquals(RANKS, pids.size());
        return pids;
    }

    static List<Long> pids(String line) {
        Matcher pid = PID.matcher(line);
        List<Long> pids = new ArrayList<>();
        while (pid.find()) {
            pids.add(Long.parseLong(pid.group(2)));
        }
        return pids;
    }

    private static List<String> pidLines(LauncherRun run) {
        return run.errLines().stream()
                .filter(line -> line.startsWith("ferro: rank 0 = pid "))
                .toList();
    }

    private static void awaitSums(LauncherRun run, int generation) throws InterruptedException {
        for (int rank = 0; rank < RANKS; rank++) {
            run.restOfLine("[" + rank + "] generation " + generation + " sums as pid ");
        }
    }

    static long descriptors(Child run) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc", "" + run.pid(), "fd"))) {
            return open.count();
        }
    }

    static List<Path> inside(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> !file.getFileName().toString().startsWith("hsperfdata"))
                    .toList();
        }
    }
}
