package ferro.launcher.output;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.program.JavaSettings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankStreamReaderTest {
    private static final OutputStream BROKEN = new OutputStream() {
        @Override
        public void write(int next) throws IOException {
            throw new IOException("Broken pipe");
        }
    };

    private static final List<String> TRACE = List.of(
            "Exception in thread \"main\" ferro.FerroException: PEER_LOST: caf\u00e9",
            "\tat ferro.group.ProcessGroup.allReduce(ProcessGroup.java:1)",
            "\tat ferro.group.Lane.run(Lane.java:2)",
            "\tat ferro.group.Lane.call(Lane.java:3)",
            "\tat java.base/java.lang.Thread.run(Thread.java:4)",
            "\tat app.Main.main(Main.java:5)",
            "Caused by: java.io.IOException: gone",
            "\tat java.base/sun.nio.ch.Net.read(Net.java:6)");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final Screen screen = new Screen(out, err);
    private final List<String> closed = new ArrayList<>();
    private final LastLines tail = new LastLines();

    @Test
    void everyLineHasItsRankOnTheScreenAndTheLogHasTheBareBytes() {
        read("one\ntwo", Screen.StreamName.ERR, screen);
        assertEquals("", text(out));
        assertEquals("[3] one\n[3] two\n", text(err));
        assertEquals("one\ntwo", text(log));
        assertEquals(List.of("one", "two"), tail.lines());
    }

    @Test
    void theJvmWarningAboutTheLaunchersFlagIsOnlyInTheLog() {
        String text = JavaSettings.INCUBATING + "\n" + JavaSettings.INCUBATING + " and more\none\n";
        read(text, Screen.StreamName.ERR, screen);
        assertEquals("[3] " + JavaSettings.INCUBATING + " and more\n[3] one\n", text(err));
        assertEquals(text, text(log));
        assertEquals(List.of(JavaSettings.INCUBATING + " and more", "one"), tail.lines());
    }

    @Test
    void stackTracesOnStandardErrorAreFoldedOnTheScreenOnly() {
        String text = String.join("\n", TRACE) + "\nbye\n" + String.join("\n", TRACE);
        read(text, Screen.StreamName.ERR, screen);
        List<String> folded = List.of(
                "[3] " + TRACE.get(0),
                "[3] " + TRACE.get(1),
                "[3] \t... 2 frames of ferro, 1 frame of the JDK",
                "[3] " + TRACE.get(5),
                "[3] " + TRACE.get(6),
                "[3] \t... 1 frame of the JDK");
        List<String> all = new ArrayList<>(folded);
        all.add("[3] bye");
        all.addAll(folded);
        assertEquals(all, text(err).lines().toList());
        assertEquals(text, text(log));
        assertTrue(tail.lines().contains(TRACE.get(2)), "the box folds by itself: " + tail.lines());
    }

    @Test
    void stackTracesAreFullOnStandardOutputOrBySetting() {
        String text = String.join("\n", TRACE) + "\n";
        List<String> full = TRACE.stream().map(line -> "[3] " + line).toList();
        read(text, Screen.StreamName.OUT, screen);
        read(text, Screen.StreamName.ERR, new Screen(stream(out), stream(err), false));
        assertEquals(full, text(out).lines().toList());
        assertEquals(full, text(err).lines().toList());
    }

    @Test
    void thePrefixIsColouredOnATerminalOnly() {
        read("one\n", Screen.StreamName.ERR, new Screen(stream(out), new Screen.ScreenStream(err, true), true));
        assertStarts(text(err), "\033[35m[3]\033[0m ");
    }

    @Test
    void aCarriageReturnEndsAProgressStateOnATerminalOnly() {
        String bars = "\r10 %\r20 %\r\ndone\n";
        String prefix = "\033[35m[3]\033[0m " + Screen.WIPE;
        read(bars, Screen.StreamName.OUT, new Screen(new Screen.ScreenStream(out, true), stream(err), true));
        read(bars, Screen.StreamName.ERR, screen);
        assertEquals(prefix + "10 %\r" + prefix + "20 %\r" + prefix + "\n" + prefix + "done\n", text(out));
        assertEquals("[3] \r10 %\r20 %\r\n[3] done\n", text(err));
    }

    @Test
    void aLineShownInPiecesIsReportedOnceAndWholeInTheLog() {
        String longest = "x".repeat(LineAssembler.LONGEST_LINE);
        String text = longest + "\n" + longest + longest + longest + "yz\n" + longest + "!\nlast\n";
        read(text, Screen.StreamName.ERR, screen);
        List<String> pieces = new ArrayList<>(text(err).lines().toList());
        String note =
                "ferro: rank 3 printed a line longer than 1048576 bytes: such lines are shown in pieces; --log-dir"
                        + " DIR keeps them whole";
        // the first line fits
        assertTrue(pieces.indexOf(note) > 1, () -> "the note is line " + pieces.indexOf(note));
        pieces.remove(note);
        String whole = "[3] " + longest;
        assertEquals(List.of(whole, whole, whole, whole, "[3] yz", whole, "[3] !", "[3] last"), pieces);
        assertEquals(text, text(log));
    }

    @Test
    void theLongestFittingLineIsShownInOnePiece() {
        String longest = "x".repeat(LineAssembler.LONGEST_LINE);
        read(longest + "\n", Screen.StreamName.ERR, screen);
        assertEquals("[3] " + longest + "\n", text(err));
    }

    @Test
    void closedStandardOutputIsReportedOnceAndEndsReading() {
        read("one\ntwo\n", Screen.StreamName.OUT, new Screen(BROKEN, err));
        assertEquals(List.of("Broken pipe"), closed);
    }

    @Test
    void closedStandardErrorDoesNotEndReading() {
        read("one\ntwo\n", Screen.StreamName.ERR, new Screen(out, BROKEN));
        assertEquals(List.of(), closed);
        assertEquals("one\ntwo\n", text(log));
        assertEquals(List.of("one", "two"), tail.lines());
    }

    @Test
    void standardOutputOnAFullDiskCausesOneWarning() {
        String line = "x".repeat(1 << 16) + "\n";
        read(
                line + line,
                Screen.StreamName.OUT,
                new Screen(new Screen.ScreenStream(BROKEN, false, true), stream(err), true));
        assertEquals(List.of(), closed);
        assertEquals(line + line, text(log));
        assertEquals(
                "ferro: WARNING: standard output cannot be written (Broken pipe): the output of the ranks is missing"
                        + " there; the job continues\n",
                text(err));
    }

    @Test
    void theDebuggerPortIsPrintedByTheLauncher() {
        read(
                "Listening for transport dt_socket at address: 41235\nhello\n"
                        + "Listening for transport dt_socket at address: 127.0.0.1:6\n",
                Screen.StreamName.OUT,
                screen);
        assertEquals("[3] hello\n", text(out));
        assertEquals(
                "ferro: rank 3 waits for a debugger: attach to localhost, port 41235 (in an IDE: Remote JVM Debug; or:"
                        + " jdb -attach localhost:41235)\n"
                        + "ferro: rank 3 goes on without a debugger: attach to localhost, port 6 (in an IDE: Remote JVM"
                        + " Debug; or: jdb -attach localhost:6)\n",
                text(err));
    }

    @Test
    void aRankThatASignalEndsIsNotReportedAsContinuingWithoutDebugger() {
        screen.hurry();
        String listening = "Listening for transport dt_socket at address: ";
        read(listening + "41235\n" + listening + "6\n", Screen.StreamName.OUT, screen);
        assertHas(text(err), "rank 3 waits for a debugger");
        assertLacks(text(err), "without");
    }

    private static Screen.ScreenStream stream(OutputStream to) {
        return new Screen.ScreenStream(to, false);
    }

    private static String text(ByteArrayOutputStream stream) {
        return stream.toString(StandardCharsets.UTF_8);
    }

    private void read(String text, Screen.StreamName name, Screen shown) {
        RankStreamReader.StreamTargets ties = new RankStreamReader.StreamTargets(
                3, name, shown, log, tail, new DebuggedRanks(Set.of(3)), failure -> closed.add(failure.getMessage()));
        // comes in pieces, one of which may end between a carriage return and a line feed
        InputStream pieces = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)) {
            @Override
            public synchronized int read(byte[] chunk, int from, int length) {
                return super.read(chunk, from, Math.min(length, 11));
            }
        };
        new RankStreamReader(pieces, ties).run();
    }
}
