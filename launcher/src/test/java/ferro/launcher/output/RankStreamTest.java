package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.program.JavaSettings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RankStreamTest {
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

    @Test
    void prefixIsColouredOnATerminalOnly() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();

        read("one\n", new Screen.ScreenStream(err, false), new Screen.ScreenStream(err, true));

        assertTrue(err.toString(StandardCharsets.UTF_8).startsWith("\033[35m[3]\033[0m "), err.toString());
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
        String note = "ferro: rank 3 printed a line longer than 1048576 bytes: such lines are shown in pieces, and kept"
                + " whole by --log-dir DIR";
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
    void closedScreenIsReportedOnceAndEndsTheReading() {
        OutputStream broken = new OutputStream() {
            @Override
            public void write(int next) throws IOException {
                throw new IOException("Broken pipe");
            }
        };

        read("one\ntwo\n", new Screen.ScreenStream(broken, false), new Screen.ScreenStream(broken, false));

        assertEquals(List.of("Broken pipe"), closed);
    }

    private void read(String text, Screen.ScreenStream out, Screen.ScreenStream err) {
        RankStream.Ties ties = new RankStream.Ties(
                3, Screen.Name.ERR, new Screen(out, err), log, tail, failure -> closed.add(failure.getMessage()));
        new RankStream(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), ties).run();
    }
}
