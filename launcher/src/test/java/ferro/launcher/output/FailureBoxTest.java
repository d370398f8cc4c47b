package ferro.launcher.output;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.input.ExitCode;
import ferro.launcher.output.FailureBox.FailureSource;
import ferro.launcher.output.FailureBox.ReportedOutput;
import ferro.launcher.output.FailureBox.TracePart;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureBoxTest {

    @Test
    void theLastLinesOfARankLeaveOutLinesOfTheJoin() {
        List<String> printed = List.of("INFO ferro.join: waiting for the store at 127.0.0.1:1", "bye");

        String text = lastLines(printed, TracePart.COMPLETE);

        assertHas(text, "| last lines of rank 1 (1):\n|   bye\n");
    }

    @Test
    void theBoxNamesRankHostPidSignalAndLastLines() {
        FailureBox box = new FailureBox(
                new FailureSource(2, "rank 2 failed first: " + ExitCode.describe(137), "host host-a", 4711),
                3.21,
                List.of(
                        "diagnosis: rank 1 is to blame: its process is gone and wrote no recording (killed or crashed)"),
                List.of("stopped because of it: ranks 0, 1"),
                new ReportedOutput(
                        List.of("java.lang.Error: no"), TracePart.FIRST_LINE, 1, List.of("step 7", "step 8")),
                List.of("./ferro analyze /tmp/here"));

        String text = String.join("\n", box.lines(80));

        assertHas(text, "rank 2 failed first: ended by signal KILL (exit code 137)");
        assertHas(text, "| rank 2: host host-a, pid 4711, 3.2 s after the start");
        assertHas(text, "exception of rank 2:\n|   java.lang.Error: no\n");
        assertHas(text, "last lines of rank 1 (2):\n|   step 7\n|   step 8\n", "stopped because of it: ranks 0, 1\n");
        assertHas(text, "| diagnosis: rank 1 is to blame: its process is gone and wrote no recording\n|   (killed or");
        assertHas(text, "| ./ferro analyze /tmp/here\n+---");
    }

    @Test
    void noLineOfTheBoxIsLongerThanTheScreenIsWide() {
        String wide = "x".repeat(390) + "end";
        FailureBox box = box(new ReportedOutput(List.of(), TracePart.COMPLETE, 1, List.of(wide, "short")));

        for (int columns : List.of(60, 132, 200, 5000)) {
            List<String> lines = box.lines(columns);
            int longest = lines.stream().mapToInt(String::length).max().orElse(-1);
            assertEquals(Math.min(columns, 200), longest, lines.toString());
            assertTrue(lines.stream().anyMatch(line -> line.endsWith("xx ...")), lines.toString());
            assertTrue(lines.contains("|   short"), lines.toString());
        }
    }

    @Test
    void allLinesOfTheBoxAreWrapped() {
        String words = "word ".repeat(60) + "end";
        FailureBox box = new FailureBox(
                new FailureSource(1, "rank 1 failed first: exit code 3", "host host-b", 17),
                0.5,
                List.of("diagnosis: " + words),
                List.of("failed after it: " + words),
                new ReportedOutput(List.of("Exception: " + words), TracePart.FIRST_LINE, 1, List.of(words)),
                List.of());

        List<String> lines = box.lines(100);

        assertEquals(4, lines.stream().filter(line -> line.endsWith(" end")).count(), lines.toString());
        assertTrue(lines.stream().allMatch(line -> line.length() <= 100), lines.toString());
        assertTrue(lines.stream().noneMatch(line -> line.endsWith(" ...")), lines.toString());
    }

    @Test
    void anExceptionInTheDiagnosisIsNotShownAgain() {
        String text = boxed(TracePart.NONE);

        assertFalse(text.contains("exception of rank 1") || text.contains("no data"), text);
        assertHas(text, "| last lines of rank 1 (1):\n|   step 7\n");
    }

    @Test
    void aWarningThatRepeatsTheDiagnosisIsNotALastLine() {
        List<String> printed = List.of(
                "INFO ferro.group: group \"world\": all 2 ranks share memory",
                "WARNING ferro.group: rank 1 of \"world\" waits for rank 0 after 519 ms at barrier",
                "bye");

        String known = lastLines(printed, TracePart.NONE);
        String unknown = lastLines(printed, TracePart.COMPLETE);

        assertHas(known, "| last lines of rank 1 (1):\n|   bye\n");
        assertHas(unknown, "| last lines of rank 1 (2):\n|   WARNING ferro.group: ");
    }

    @Test
    void aRankThatPrintedOnlyTheLogIsDescribedSo() {
        String silent = lastLines(List.of(), TracePart.NONE);
        String logged = lastLines(List.of("INFO ferro.group: group \"world\""), TracePart.NONE);

        assertHas(silent, "\n| rank 1 printed nothing\n");
        assertHas(logged, "\n| rank 1 printed nothing but the log of ferro\n");
    }

    private static String lastLines(List<String> printed, TracePart part) {
        return String.join(
                "\n", box(new ReportedOutput(List.of(), part, 1, printed)).lines(120));
    }

    @Test
    void commandsToTypeAreNotWrapped() {
        String command = "  ./ferro analyze /tmp/" + "x".repeat(100);
        FailureBox box =
                box(new ReportedOutput(List.of(), TracePart.COMPLETE, 1, List.of("short")), "a timeline:", command);

        List<String> lines = box.lines(60);

        assertEquals(List.of("| a timeline:", "| " + command), lines.subList(lines.size() - 3, lines.size() - 1));
    }

    @Test
    void anOrdinaryExitCodeIsNotASignal() {
        assertEquals("exit code 7", ExitCode.describe(7));
        assertEquals("exit code 255", ExitCode.describe(255));
        assertEquals("ended by signal TERM (exit code 143)", ExitCode.describe(143));
        assertEquals("ended by signal XCPU (exit code 152)", ExitCode.describe(152));
        assertEquals("exit code 160", ExitCode.describe(160));
        assertEquals(130, ExitCode.ofSignal("INT"));
    }

    @Test
    void theTailKeepsTheLastTwentyLines() {
        LastLines tail = new LastLines();
        for (int number = 1; number <= 23; number++) {
            add(tail, "line " + number);
        }

        assertEquals(20, tail.lines().size());
        assertEquals("line 4", tail.lines().get(0));
        assertEquals("line 23", tail.lines().get(19));
    }

    @Test
    void theTailShowsNoControlCharactersAndCutsLongLines() {
        LastLines tail = new LastLines();
        add(tail, "\033[2Jred\tbell\007");
        add(tail, "y".repeat(10_000));

        assertEquals("red\tbell?", tail.lines().get(0));
        assertTrue(tail.lines().get(1).endsWith("y ..."), tail.lines().get(1));
        assertEquals(1_200 + " ...".length(), tail.lines().get(1).length());
    }

    @Test
    void theTraceOfTheMainThreadIsShownFirstAndOnce() {
        LastLines tail = new LastLines();
        add(tail, "Exception in thread \"logger\" java.lang.Error: other");
        add(tail, "step 7");
        add(tail, "Exception in thread \"main\" java.lang.IllegalStateException: no data");
        add(tail, "second line of the message");
        for (int depth = 0; depth < 30; depth++) {
            add(tail, "\tat app.Main.call" + depth + "(Main.java:7)");
        }
        add(tail, "Caused by: java.io.IOException: disk");
        add(tail, "bye");
        FailureBox box = box(new ReportedOutput(tail.trace(), TracePart.COMPLETE, 1, tail.lines()));

        String text = String.join("\n", box.lines(80));

        assertHas(text, "| exception of rank 1:\n|   Exception in thread \"main\" java.lang.Ill");
        assertTrue(text.contains("call0(") && text.contains("|   Caused by: java.io.IOException: disk\n"), text);
        assertHas(text, "| last lines of rank 1 (1):\n|   bye\n");
        add(tail, "Exception in thread \"pool-1\" java.lang.Error: later");
        assertHas(tail.trace().get(0), "no data");
    }

    @Test
    void theBoxFoldsTheTraceAndRepeatsNoFrameInTheLastLines() {
        String text = boxed(TracePart.COMPLETE);

        assertHas(text, "|   Exception in thread \"main\" java.lang.IllegalStateException: no data\n");
        assertHas(text, "|       at ferro.group.ProcessGroup.allReduce(ProcessGroup.java:1)\n");
        assertHas(text, "|       ... 30 frames of ferro\n|       at app.Main.main(Main.java:7)\n");
        assertHas(text, "| last lines of rank 1 (1):\n|   step 7\n");
    }

    @Test
    void theTraceOfAnInnocentRankIsOneLine() {
        String text = boxed(TracePart.FIRST_LINE);

        assertHas(text, "|   Exception in thread \"main\" java.lang.IllegalStateException: no data\n| last lines");
        assertLacks(text, "at app.Main");
    }

    private static String boxed(TracePart part) {
        LastLines tail = new LastLines();
        add(tail, "Exception in thread \"main\" java.lang.IllegalStateException: no data");
        add(tail, "\tat ferro.group.ProcessGroup.allReduce(ProcessGroup.java:1)");
        for (int depth = 0; depth < 30; depth++) {
            add(tail, "\tat ferro.collectives.Lane.call" + depth + "(Lane.java:7)");
        }
        add(tail, "\tat app.Main.main(Main.java:7)");
        add(tail, "step 7");
        return String.join(
                "\n",
                box(new ReportedOutput(tail.trace(), part, 1, tail.lines())).lines(100));
    }

    private static FailureBox box(ReportedOutput printed, String... typed) {
        FailureSource first = new FailureSource(1, "rank 1 failed first: exit code 1", "host host-b", 17);
        return new FailureBox(first, 0.5, List.of(), List.of(), printed, List.of(typed));
    }

    private static void add(LastLines tail, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        tail.add(bytes, bytes.length);
    }
}
