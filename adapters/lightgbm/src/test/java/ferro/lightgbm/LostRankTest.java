package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the other ranks name a process that is killed or stopped during the training, and have no model. */
@EnabledOnOs(OS.LINUX)
class LostRankTest {
    private static final int RANKS = 3;
    private static final int LOST = 1;
    private static final int ITERATION = 4;
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    private Path folder;

    @Test
    void aKilledRankIsNamedOnAllOtherRanksAndNothingIsLeft() throws Exception {
        try (RankJvms ranks = start()) {
            signal(ranks, "KILL");

            assertNamed(ranks, "PEER_LOST");
            try (Stream<Path> files = Files.list(folder)) {
                assertEquals(
                        List.of(),
                        files.filter(file -> file.getFileName().toString().startsWith("jna"))
                                .toList(),
                        "extracted libraries");
            }
        }
    }

    @Test
    void aStoppedRankIsNamedOnAllOtherRanksAtTheDeadline() throws Exception {
        try (RankJvms ranks = start()) {
            signal(ranks, "STOP");

            assertNamed(ranks, "TIMED_OUT");
        }
    }

    private RankJvms start() throws IOException {
        return new RankJvms(
                folder, RANKS, Map.of("FERRO_TIMEOUT", "5s", "FERRO_JOIN_TIMEOUT", "60s"), TrainsUntilAFailure.class);
    }

    /** Sends a signal to a rank once it has trained some iterations. */
    private static void signal(RankJvms ranks, String signal) throws Exception {
        long begun = System.nanoTime();
        while (!ranks.lines(LOST).contains("iteration " + ITERATION)) {
            assertTrue(System.nanoTime() - begun < BOUND_NANOS, () -> "no iteration: " + ranks.lines(LOST));
            LockSupport.parkNanos(1_000_000);
        }
        String pid = Long.toString(ranks.process(LOST).pid());
        assertEquals(0, new ProcessBuilder("kill", "-s", signal, pid).start().waitFor());
    }

    private static void assertNamed(RankJvms ranks, String code) throws Exception {
        for (int rank = 0; rank < RANKS; rank++) {
            if (rank == LOST) {
                continue;
            }
            List<String> culprits = ranks.ended(rank, "culprits");
            List<String> failed = ranks.ended(rank, "failed");
            int iterations = ranks.ended(rank, "iteration").size();
            assertEquals(List.of(List.of(LOST).toString()), culprits, ranks.lines(rank)::toString);
            String text = failed.get(0);
            assertTrue(
                    text.startsWith(code + " LightGBM iteration " + iterations + " on rank " + rank + " of 3, host "),
                    text);
            assertTrue(text.contains("no model: "), text);
            assertEquals(1, ranks.ended(rank, "refused").size());
            assertEquals(0, ranks.process(rank).exitValue(), ranks.lines(rank)::toString);
        }
    }
}
