package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class BenchProcessTest {
    @Test
    void jsonOfABenchmarkIsAloneOnStandardOutputAndNamesTheMedium() throws Exception {
        Map<String, String> overridden = new HashMap<>(LauncherRun.FOR_SHORT_LIVES);
        overridden.put("FERRO_LINKS", "shm");
        String words = "bench -n 2 --backend tcp --links tcp allreduce --sizes 4,1KiB --op max --time 10ms --json";
        try (LauncherRun run = LauncherRun.start(overridden, words.split(" "))) {
            assertEquals(0, run.exitCode(), run::toString);

            List<String> lines = run.outLines();
            assertEquals(2, lines.size(), run::toString);
            String start =
                    "{\"collective\":\"allreduce\",\"backend\":\"tcp\",\"ranks\":2,\"type\":\"f32\",\"op\":\"max\",";
            assertTrue(lines.get(0).startsWith(start + "\"bytes\":4,"), run::toString);
            assertTrue(lines.get(1).startsWith(start + "\"bytes\":1024,"), run::toString);
            assertTrue(lines.get(1).contains("\"medium\":\"TCP (loopback)\""), run::toString);
            assertTrue(lines.get(1).contains("\"wrong\":0,\"probe_us\":"), run::toString);
        }
        // the name of a back end does not say it
        LauncherRun run = bench("allreduce", "--sizes", "4", "--time", "10ms").ends(0);
        assertTrue(
                run.outLines().get(0).startsWith("# allreduce, 2 ranks, tcp, host tensors, data over shared memory, "),
                run::toString);
        assertTrue(run.outLines().stream().anyMatch(line -> line.startsWith("# busbw: ")), run::toString);
    }

    @Test
    void benchmarkRowsOfAnEncryptedJobShowTls() throws Exception {
        Map<String, String> encrypted = new HashMap<>(LauncherRun.FOR_SHORT_LIVES);
        encrypted.put("FERRO_TLS", "on");
        String words = "bench -n 2 --backend tcp --links tcp allreduce --sizes 4 --time 10ms";
        try (LauncherRun run = LauncherRun.start(encrypted, words.split(" "))) {
            assertEquals(0, run.exitCode(), run::toString);
            String head = "# allreduce, 2 ranks, tcp, host tensors, data over TCP (loopback) with TLS, ";
            assertTrue(run.outLines().get(0).startsWith(head), run::toString);
        }
        LauncherRun run =
                LauncherRun.start(encrypted, (words + " --json").split(" ")).ends(0);
        assertTrue(run.outLines().get(0).contains("\"medium\":\"TCP (loopback) with TLS\""), run::toString);
    }

    @Test
    void benchmarksUseSharedTensorsOnlyIfRanksShareMemory() throws Exception {
        String words = "reducescatter --memory shared --sizes 64KiB --time 10ms --json";
        try (LauncherRun run = bench(words.split(" "))) {
            assertEquals(0, run.exitCode(), run::toString);
            String line = run.outLines().get(0);
            assertTrue(line.contains("\"memory\":\"shared\",\"medium\":\"shared memory\""), run::toString);
        }
        words = "allreduce --links tcp --memory shared --sizes 4 --time 10ms --json";
        LauncherRun run = bench(words.split(" ")).ends(0);
        String line = run.outLines().get(0);
        assertTrue(line.contains("\"memory\":\"direct\","), run::toString);
        run.assertErr("--memory shared measures memory outside the heap");
    }

    @Test
    void anUnknownCollectiveIsReportedBeforeAnythingStarts() throws Exception {
        LauncherRun run = LauncherRun.start("bench", "-n", "2", "--backend", "tcp", "alreduce")
                .ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(run.errText().startsWith("ferro bench: no collective \"alreduce\" to measure"), run::toString);
    }

    private static LauncherRun bench(String... words) throws Exception {
        List<String> line = new ArrayList<>(List.of("bench", "-n", "2", "--backend", "tcp"));
        line.addAll(List.of(words));
        return LauncherRun.start(LauncherRun.FOR_SHORT_LIVES, line.toArray(String[]::new));
    }
}
