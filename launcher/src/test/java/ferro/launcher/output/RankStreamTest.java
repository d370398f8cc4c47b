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
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankStreamTest {
    private static final OutputStream BROKEN = new OutputStream() {
        @Override
        public void write(int next) throws IOException {
            throw new IOException("Broken pipe");
        }
    };

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final List<String> closed = new ArrayList<>();
    private final Tail tail = new Tail();

    @Test
    void everyLineCarriesItsRankOnItsOwnStreamAndTheLogHasTheBareBytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();

        read("one\ntwo", new Screen.ScreenStream(out, false), new Screen.ScreenStream(err, false));

        assertEquals("", out.toString(StandardCharsets.UTF_8));
        assertEquals("[3] one\n[3] two\n", err.toString(StandardCharsets.UTF_8));
        assertEquals("one\ntwo", log.toString(StandardCharsets.UTF_8));
        assertEquals(List.of("one", "two"), tail.lines());
    }

    @Test
    void whatTheJvmSaysAboutOurOwnFlagIsLeftToTheLog() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String text = JavaSettings.INCUBATING + "\n" + JavaSettings.INCUBATING + " and more\none\n";

        read(text, new Screen.ScreenStream(err, false), new Screen.ScreenStream(err, false));

        assertEquals("[3] " + JavaSettings.INCUBATING + " and more\n[3] one\n", err.toString(StandardCharsets.UTF_8));
        assertEquals(text, log.toString(StandardCharsets.UTF_8));
        assertEquals(List.of(JavaSettings.INCUBATING + " and more", "one"), tail.lines());
    }

    private static final List<String> TRACE = List.of(
            "Exception in thread \"main\" ferro.FerroException: PEER_LOST: caf\u00e9",
            "\tat ferro.group.ProcessGroup.allReduce(ProcessGroup.java:1)",
            "\tat ferro.group.Lane.run(Lane.java:2)",
            "\tat ferro.group.Lane.call(Lane.java:3)",
            "\tat java.base/java.lang.Thread.run(Thread.java:4)",
            "\tat app.Main.main(Main.java:5)",
            "Caused by: java.io.IOException: gone",
            "\tat java.base/sun.nio.ch.Net.read(Net.java:6)");

    @Test
    void tracesOnStandardErrorAreFoldedForTheScreenOnly() {
        Screen.ScreenStream err = errScreen();
        String text = String.join("\n", TRACE) + "\nbye\n" + String.join("\n", TRACE);

        read(text, errScreen(), err);

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
        assertEquals(all, printed(err));
        assertEquals(text, log.toString(StandardCharsets.UTF_8));
        assertTrue(tail.lines().contains(TRACE.get(2)), "the box folds by itself: " + tail.lines());
    }

    @Test
    void tracesAreFullOnStandardOutputAndWithTheSetting() {
        Screen.ScreenStream out = errScreen();
        Screen.ScreenStream err = errScreen();
        String text = String.join("\n", TRACE) + "\n";
        List<String> full = TRACE.stream().map(line -> "[3] " + line).toList();

        read(text, Screen.Name.OUT, out, errScreen());
        read(text, Screen.Name.ERR, new Screen(errScreen(), err, false));

        assertEquals(full, printed(out));
        assertEquals(full, printed(err));
    }

    private static List<String> printed(Screen.ScreenStream stream) {
        return ((ByteArrayOutputStream) stream.stream())
                .toString(StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    @Test
    void prefixIsColouredOnATerminalOnly() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();

        read("one\n", new Screen.ScreenStream(err, false), new Screen.ScreenStream(err, true));

        assertStarts(err.toString(StandardCharsets.UTF_8), "\033[35m[3]\033[0m ");
    }

    @Test
    void linesThatAreShownInPiecesAreToldOncePerStreamAndKeptWholeInTheLog() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String longest = "x".repeat(LineAssembler.LONGEST_LINE);
        String text = longest + "\n" + longest + longest + longest + "yz\n" + longest + "!\nlast\n";

        read(text, new Screen.ScreenStream(err, false), new Screen.ScreenStream(err, false));

        List<String> said = err.toString(StandardCharsets.UTF_8).lines().toList();
        List<String> notes =
                said.stream().filter(line -> line.startsWith("ferro: ")).toList();
        String note =
                "ferro: rank 3 printed a line longer than 1048576 bytes: such lines are shown in pieces; --log-dir"
                        + " DIR keeps them whole";
        assertEquals(List.of(note), notes);
        // the first line fits
        assertTrue(said.indexOf(note) > 1, () -> "the note is line " + said.indexOf(note));
        String whole = "[3] " + longest;
        List<String> pieces =
                said.stream().filter(line -> !notes.contains(line)).toList();
        assertEquals(List.of(whole, whole, whole, whole, "[3] yz", whole, "[3] !", "[3] last"), pieces);
        assertEquals(text, log.toString(StandardCharsets.UTF_8));
    }

    @Test
    void longestLineThatFitsIsShownInOnePieceWithoutANote() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String longest = "x".repeat(LineAssembler.LONGEST_LINE);

        read(longest + "\n", new Screen.ScreenStream(err, false), new Screen.ScreenStream(err, false));

        assertEquals("[3] " + longest + "\n", err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void closedStandardOutputIsReportedOnceAndEndsTheReading() {
        read("one\ntwo\n", Screen.Name.OUT, new Screen.ScreenStream(BROKEN, false), errScreen());

        assertEquals(List.of("Broken pipe"), closed);
    }

    @Test
    void closedStandardErrorEndsNothingAndTheLogHasEveryByte() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        read(
                "one\ntwo\n",
                Screen.Name.ERR,
                new Screen.ScreenStream(out, false),
                new Screen.ScreenStream(BROKEN, false));

        assertEquals(List.of(), closed);
        assertEquals("one\ntwo\n", log.toString(StandardCharsets.UTF_8));
        assertEquals(List.of("one", "two"), tail.lines());
    }

    @Test
    void standardOutputOnAFullDiskIsOneWarningAndEndsNothing() {
        Screen.ScreenStream err = errScreen();

        String line = "x".repeat(1 << 16) + "\n";
        read(line + line, Screen.Name.OUT, new Screen.ScreenStream(BROKEN, false, true), err);

        assertEquals(List.of(), closed);
        assertEquals(line + line, log.toString(StandardCharsets.UTF_8));
        List<String> said = err.stream().toString().lines().toList();
        assertEquals(
                List.of(
                        "ferro: WARNING: standard output cannot be written (Broken pipe): the output of the ranks is missing"
                                + " there; the job continues"),
                said);
    }

    @Test
    void thePortOfADebuggerIsALineOfTheLauncher() {
        Screen.ScreenStream err = errScreen();
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        read(
                "Listening for transport dt_socket at address: 41235\nhello\n"
                        + "Listening for transport dt_socket at address: 127.0.0.1:6\n",
                Screen.Name.OUT,
                new Screen.ScreenStream(out, false, true),
                err);

        assertEquals("[3] hello\n", out.toString(StandardCharsets.UTF_8));
        assertEquals(
                "ferro: rank 3 waits for a debugger: attach to localhost, port 41235 (in an IDE: Remote JVM Debug; or:"
                        + " jdb -attach localhost:41235)\n"
                        + "ferro: rank 3 goes on without a debugger: attach to localhost, port 6 (in an IDE: Remote JVM"
                        + " Debug; or: jdb -attach localhost:6)\n",
                err.stream().toString());
    }

    @Test
    void rankThatASignalEndsDoesNotGoOnWithoutADebugger() {
        Screen.ScreenStream err = errScreen();
        Screen screen = new Screen(new Screen.ScreenStream(new ByteArrayOutputStream(), false, true), err);
        screen.hurry();

        String listening = "Listening for transport dt_socket at address: ";
        read(listening + "41235\n" + listening + "6\n", Screen.Name.OUT, screen);

        assertHas(err.stream().toString(), "rank 3 waits for a debugger");
        assertLacks(err.stream().toString(), "without");
    }

    private static Screen.ScreenStream errScreen() {
        return new Screen.ScreenStream(new ByteArrayOutputStream(), false);
    }

    private void read(String text, Screen.ScreenStream out, Screen.ScreenStream err) {
        read(text, Screen.Name.ERR, out, err);
    }

    private void read(String text, Screen.Name name, Screen.ScreenStream out, Screen.ScreenStream err) {
        read(text, name, new Screen(out, err));
    }

    private void read(String text, Screen.Name name, Screen screen) {
        RankStream.Ties ties = new RankStream.Ties(
                3, name, screen, log, tail, new DebuggedRanks(Set.of(3)), failure -> closed.add(failure.getMessage()));
        new RankStream(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), ties).run();
    }
}
