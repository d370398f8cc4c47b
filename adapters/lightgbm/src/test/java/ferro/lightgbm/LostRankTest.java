package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

    @TempDir
    private Path folder;

    @Test
    void aKilledRankIsNamedOnAllOtherRanksAndNoModelIsLeft() throws Exception {
        try (Job ranks = start()) {
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
        try (Job ranks = start()) {
            signal(ranks, "STOP");

            assertNamed(ranks, "TIMED_OUT");
        }
    }

    private Job start() throws IOException {
        return Job.start(
                RANKS,
                Map.of("FERRO_TIMEOUT", "5s", "FERRO_JOIN_TIMEOUT", "60s"),
                Jvm.line(List.of("-Djna.tmpdir=" + folder), TrainsUntilAFailure.class));
    }

    private static void signal(Job ranks, String signal) throws Exception {
        ranks.rank(LOST).await("iteration " + ITERATION);
        ranks.rank(LOST).signal(signal);
    }

    private static void assertNamed(Job ranks, String code) throws Exception {
        for (int rank : new int[] {0, 2}) {
            Child child = ranks.rank(rank);
            child.ended(0);
            int iterations = child.after("iteration").size();
            assertEquals(List.of(List.of(LOST).toString()), child.after("culprits"), child::toString);
            String text = child.after("failed").get(0);
            assertTrue(
                    text.startsWith(code + " LightGBM iteration " + iterations + " on rank " + rank + " of 3, host "),
                    text);
            assertTrue(text.contains("no model: "), text);
            assertEquals(1, child.after("refused").size());
        }
    }
}
