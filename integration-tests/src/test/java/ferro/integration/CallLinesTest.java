package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Processes whose failures, recordings and failure reports have the lines of the program that the ranks execute. */
@Timeout(120)
class CallLinesTest {
    private static final String SLEEPS = "ferro\\.integration\\.StandsInOneRank\\.sleep at StandsInOneRank\\.java:\\d+";
    private static final String CALLS = "ferro\\.integration\\.StandsInOneRank\\.%s at StandsInOneRank\\.java:\\d+";

    @TempDir
    private Path recordings;

    private LauncherRun run(String how) throws Exception {
        return LauncherRun.words(
                Map.of("FERRO_RECORDER_DIR", recordings.toString()),
                "run -n 2 --no-bind ferro.integration.StandsInOneRank",
                how);
    }

    private static String failure(LauncherRun run) throws InterruptedException {
        return run.restOfLine("[0] failure: ");
    }

    private static void has(String text, String pattern) {
        assertTrue(text.matches("(?s).*(" + pattern + ").*"), () -> "no " + pattern + " in " + text);
    }

    private String recording(int rank) throws Exception {
        try (var files = Files.list(recordings)) {
            Path file = files.filter(one -> one.toString().endsWith("-rank" + rank + ".json"))
                    .findFirst()
                    .orElseThrow();
            return Files.readString(file);
        }
    }

    @Test
    void aSleepingRankIsReportedWithItsLine() throws Exception {
        try (LauncherRun run = run("sleeps")) {
            has(failure(run), "rank 1 has not made this call.* in no call of ferro: " + SLEEPS + " \\(sleeping\\)");
            assertEquals(1, run.exitCode(), run::toString);
            has(
                    recording(1),
                    "\"reason\":\"failure of group world\",\"thread\":\"main\",\"joined\":1,\"group\":null,\"location\":\""
                            + SLEEPS + " \\(sleeping\\)\",\"frames\":\\[[^]]*\"java.lang.Thread.sleep[^]]*"
                            + "StandsInOneRank.sleep\\(StandsInOneRank.java:\\d+\\)[^]]*StandsInOneRank.main\\(");
            has(
                    recording(0),
                    "\"thread\":\"main\",\"joined\":1,\"group\":\"world\",\"location\":\"" + CALLS.formatted("call")
                            + "\",\"frames\":\\[[^]]*StandsInOneRank.call\\(");
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void aVirtualThreadIsReportedWithItsLine() throws Exception {
        try (LauncherRun run = run("joins on a virtual thread")) {
            has(failure(run), "rank 1 has not made this call.* in no call of ferro: " + SLEEPS + " \\(sleeping\\)");
        }
    }

    @Test
    void aRankWhoseJoiningThreadEndedIsReportedAsSuch() throws Exception {
        try (LauncherRun run = run("joins on another thread")) {
            has(failure(run), "rank 1 has not made this call.* in no call of ferro: the thread that joined has ended");
        }
    }

    @Test
    void differentCallsAreReportedWithTheirLines() throws Exception {
        try (LauncherRun run = run("calls")) {
            String failure = failure(run);
            has(failure, "different calls at seq 2: rank 0 barrier[^,]*, rank 1 allReduce ");
            // a rank that has only entered its call may report no line; the other rank waits in its call then
            has(
                    failure,
                    "rank 0 barrier[^,]*\\((called by )?" + CALLS.formatted("call")
                            + "|rank 1 allReduce [^,]*\\((called by )?" + CALLS.formatted("work"));
        }
    }
}
