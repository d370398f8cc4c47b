package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** gpu/pack and gpu/report as on a machine with a GPU: another folder, an empty environment, no Java but the packed one. */
@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(1200)
class GpuScriptsTest {
    /** The whole report computes for minutes where eight other programs want the cores. */
    private static final Duration LIMIT = Duration.ofSeconds(1000);

    private static final long MOST_BYTES = 64L << 20;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void pack() throws Exception {
        Map<String, String> variables =
                Map.of("JAVA_HOME", System.getProperty("java.home"), "PATH", System.getenv("PATH"));
        Result packed = run(variables, script("pack"), "--class-path", LauncherRun.classPath(), "--out", "" + folder);
        assertEquals(0, packed.code(), packed::toString);
        assertTrue(Files.size(folder.resolve("kit.tgz")) < MOST_BYTES, packed::toString);
    }

    @Test
    void theReportOfTheStandInHasNoFailure() throws Exception {
        Result report = report(StandInPair.variables("STANDIN_MISMATCH_HANGS", "1"));

        assertEquals(0, report.code(), report::toString);
        for (String line : List.of(
                "- PASS a stream waits for another by an event: ",
                "- PASS out of memory: ",
                "- PASS abort: ",
                "- INFO pinned copies: ",
                "- INFO pageable copies: ",
                "- INFO one call through JNA (cudaGetDevice): ",
                "- PASS rank 0, abort frees a rank that waits: ",
                "- PASS rank 0, many calls in flight: 100 at once",
                "- PASS rank 0, two groups in turn: ",
                "- INFO rank 0, allReduce of 1048576 bytes: ",
                "- PASS rank 0, a rank that does not call is named: after ",
                "- PASS rank 0, different calls are detected: ",
                "- PASS rank 1, different calls are detected: ",
                "- PASS rank 1, both kinds of tensors: ",
                "- PASS rank 1, host round trip is measured: ",
                "- INFO copy on the device, C program: ")) {
            assertEquals(1, report.starting(line), () -> line + " in\n" + report);
        }
        assertEquals(
                2,
                report.starting("- PASS rank 0, a killed rank ends the other: listeners are called after "),
                report::toString);
        for (int rule : new int[] {101, 102, 103, 104, 105, 106, 107, 108, 110, 113, 201}) {
            boolean ofPairs = rule == 113 || rule == 201;
            assertEquals(
                    ofPairs ? 0 : 2, report.starting("- PASS rule " + rule + ": "), () -> "of one rank, in\n" + report);
            assertEquals(2, report.starting("- PASS rank 1, rule " + rule + ": "), () -> "of two, in\n" + report);
        }
        assertEquals(2, report.starting("- PASS rank 0, rule 101 in host memory: "), report::toString);
        assertTrue(report.text().contains(", refused as declared: {averages of whole numbers="), report::toString);
    }

    @Test
    void differentCallsAreDetectedAlthoughNcclLetsOneSucceed() throws Exception {
        Result report = report(StandInPair.variables("STANDIN_MISMATCH_TRUNCATES", "1"), "pair-mismatch");

        assertEquals(0, report.code(), report::toString);
        String detected = ", different calls are detected: ";
        String both = "allReduce of f32[1048576] by sum, rank 1 broadcast of f32[1048576], root 1";
        assertEquals(
                1,
                report.starting("- PASS rank 0" + detected + "NCCL let the call succeed with wrong data"),
                report::toString);
        assertEquals(1, report.starting("- PASS rank 1" + detected + "after "), report::toString);
        assertEquals(
                2, report.text().lines().filter(line -> line.contains(both)).count(), report::toString);
    }

    @Test
    void withoutADeviceTheReportNamesTheReasonAndContinues() throws Exception {
        Result report = report(StandInPair.variables("STANDIN_DEVICES", "-1"));

        assertTrue(report.code() > 0, report::toString);
        assertEquals(1, report.starting("- FAIL libraries are found and a device can be used: "), report::toString);
        assertTrue(report.text().contains("no driver found"), report::toString);
        assertEquals(1, report.starting("- SKIP pair-kill: no device"), report::toString);
        assertEquals(
                1, report.starting("- FAIL copy on the device, C program: cudaMalloc answered 35"), report::toString);
    }

    /** Its two ranks share one device, as ranks of two hosts. */
    @Test
    void aKitPackedFromItsOwnBuildIsComplete() throws Exception {
        Path own = folder.resolve("own");
        Result packed = run(
                Map.of(
                        "JAVA_HOME", System.getProperty("java.home"),
                        "HOME", System.getProperty("user.home"),
                        "PATH", System.getenv("PATH")),
                script("pack"),
                "--out",
                "" + own);
        assertEquals(0, packed.code(), packed::toString);
        assertTrue(Files.size(own.resolve("kit.tgz")) < MOST_BYTES, packed::toString);

        Result report =
                report(own, StandInPair.variables("STANDIN_DEVICES", "1"), "pair-collectives", "pair-beside-tcp");

        assertEquals(0, report.code(), report::toString);
        assertEquals(1, report.starting("- PASS rank 1, rule 101: "), report::toString);
        assertEquals(1, report.starting("- PASS rank 1, rule 108: allToAll"), report::toString);
        assertEquals(1, report.starting("- PASS rank 1, both kinds of tensors: "), report::toString);
    }

    private static Result report(Map<String, String> variables, String... parts) throws Exception {
        return report(folder, variables, parts);
    }

    private static Result report(Path packed, Map<String, String> variables, String... parts) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(script("report"), "--kit", "" + packed.resolve("kit.tgz"), "--mib", "1"));
        command.addAll(List.of(parts));
        Map<String, String> all = new HashMap<>(variables);
        // a part lives for a second, in which it would compile more than it runs
        all.put("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -Dreport.selection=true");
        return run(all, command.toArray(String[]::new));
    }

    private static String script(String name) {
        return Path.of("../gpu", name).toAbsolutePath().normalize().toString();
    }

    private record Result(int code, String text) {
        long starting(String start) {
            return text.lines().filter(line -> line.startsWith(start)).count();
        }

        @Override
        public String toString() {
            return "exit code " + code + "\n" + text;
        }
    }

    private static Result run(Map<String, String> variables, String... script)
            throws IOException, InterruptedException {
        List<String> command =
                Stream.concat(Stream.of("bash"), Stream.of(script)).toList();
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().putAll(variables);
        try (Child child = new Child(builder.redirectErrorStream(true), LIMIT)) {
            return new Result(child.exitCode(), String.join("\n", child.outLines()));
        }
    }
}
