package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that stand at a breakpoint of a real debugger for longer than all time limits of the job. */
@Timeout(90)
class DebuggedRanksTest {
    private static final String PROGRAM = "ferro.integration.SumsAtABreakpoint";
    private static final Pattern LISTENS = Pattern.compile("rank (\\d) waits for a debugger: .* port (\\d+) .*");
    /** Limits of a second and less; the rank stands longer. */
    private static final Map<String, String> SHORT = Map.of(
            "FERRO_TIMEOUT", "1s",
            "FERRO_JOIN_TIMEOUT", "1s",
            "FERRO_HEARTBEAT_INTERVAL", "100ms",
            "FERRO_HEARTBEAT_SUSPECT", "300ms",
            "FERRO_HEARTBEAT_LIMIT", "700ms");

    /** What the program prints of the event. */
    private static final String SUSPECTED = "event SUSPECTED of ranks [1]";

    private static final long HELD_MILLIS = 2_500;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "tcp"})
    @Tag("long")
    void aRankAtABreakpointFailsNoCallAndIsNotSuspected(String links) throws Exception {
        try (LauncherRun run = start("run", "-n", "3", "--debug", "1", "--links", links, PROGRAM)) {
            String port = port(run, 1);
            hold(run); // the others wait for rank 1 in the join, longer than its limit
            try (SocketDebugger debugger = SocketDebugger.attach(port)) {
                debugger.runTo(PROGRAM, "breakpoint");
                hold(run);
            }
            assertEquals(0, run.exitCode(), run::toString);
            for (int rank = 0; rank < 3; rank++) {
                assertTrue(run.outLines().contains("[" + rank + "] sums 12 39 147"), run::toString);
            }
            assertEquals(
                    1,
                    run.errLines().stream()
                            .filter(line -> line.contains("ferro.debug is on"))
                            .count(),
                    run::toString);
            assertFalse(run.errText().contains(SUSPECTED), run::toString);
        }
    }

    /** The other half of the proof: each limit alone ends a job whose rank 1 stands at the same breakpoint. */
    @ParameterizedTest
    @CsvSource({"FERRO_TIMEOUT, 2s, TIMED_OUT", "FERRO_HEARTBEAT_LIMIT, 2s, PARTITION"})
    @Tag("long")
    void withoutDebugATimeLimitEndsTheJob(String limit, String time, String code) throws Exception {
        Map<String, String> settings = new HashMap<>(SHORT);
        settings.putAll(Map.of("FERRO_TIMEOUT", "60s", "FERRO_JOIN_TIMEOUT", "60s", "FERRO_HEARTBEAT_LIMIT", "60s"));
        settings.put(limit, time);
        String agent = "-J-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0";
        try (LauncherRun run = LauncherRun.start(settings, "run", "-n", "3", agent, PROGRAM)) {
            for (int rank : List.of(0, 2)) {
                SocketDebugger.attach(portByHand(run, rank)).close();
            }
            try (SocketDebugger debugger = SocketDebugger.attach(portByHand(run, 1))) {
                debugger.runTo(PROGRAM, "breakpoint");
                assertEquals(1, run.exitCode(), run::toString);
            }
            run.assertErr(code);
            run.assertErr(SUSPECTED);
        }
    }

    @Test
    @Tag("long")
    void ranksWithDifferentDebugSettingsAreRefused() throws Exception {
        String ofRank = "FERRO_DEBUG=$RANK exec \"$0\" -cp \"$1\" " + PROGRAM;
        LauncherRun run = LauncherRun.start(
                        "run", "-n", "2", "--", "sh", "-c", ofRank, Jvm.java(), LauncherRun.classPath())
                .ends(1);
        run.assertErr("give all ranks the same ferro.debug");
    }

    private static String portByHand(LauncherRun run, int rank) throws InterruptedException {
        return run.restOfLine("[" + rank + "] Listening for transport dt_socket at address: ");
    }

    private static LauncherRun start(String... arguments) throws IOException {
        return LauncherRun.start(SHORT, arguments);
    }

    private static String port(LauncherRun run, int rank) throws InterruptedException {
        run.awaitErrLine("rank " + rank + " waits for a debugger");
        List<String> ports = run.errLines().stream()
                .map(LISTENS::matcher)
                .filter(Matcher::find)
                .filter(found -> found.group(1).equals("" + rank))
                .map(found -> found.group(2))
                .toList();
        return ports.get(0);
    }

    /** Lets time pass, which is what this test is about; the job must not end meanwhile. */
    private static void hold(LauncherRun run) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(HELD_MILLIS);
        assertFalse(run.errText().contains("diagnosis"), run::toString);
    }
}
