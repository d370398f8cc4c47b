package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineAssemblerTest {
    private final List<String> lines = new ArrayList<>();

    @Test
    void linesThatArriveInPiecesAreAssembled() {
        LineAssembler assembler = assembler(false);

        feed(assembler, "fir");
        feed(assembler, "st\n\nthi");
        feed(assembler, "rd\n");

        assertEquals(List.of("first\n", "\n", "third\n"), lines);
    }

    @Test
    void aLastLineWithoutAnEndGetsOne() {
        LineAssembler assembler = assembler(false);

        feed(assembler, "whole\npart");
        assembler.finish();

        assertEquals(List.of("whole\n", "part\n"), lines);
    }

    @Test
    void aCarriageReturnEndsAProgressStateOnATerminal() {
        LineAssembler assembler = assembler(true);

        feed(assembler, "\r10 %\r20 %\r");
        feed(assembler, "\ndone\n");

        assertEquals(List.of("10 %\r", "20 %\r", "\n", "done\n"), lines);
    }

    @Test
    void aCarriageReturnIsAnOrdinaryByteInAFile() {
        LineAssembler assembler = assembler(false);

        feed(assembler, "10 %\r20 %\r\n");

        assertEquals(List.of("10 %\r20 %\r\n"), lines);
    }

    @Test
    void anEndlessLineIsCutToBoundMemory() {
        LineAssembler assembler = assembler(false);

        feed(assembler, "x".repeat(LineAssembler.LONGEST_LINE + 3));
        assembler.finish();

        assertEquals(
                List.of(LineAssembler.LONGEST_LINE + 1, 4),
                lines.stream().map(String::length).toList());
    }

    private LineAssembler assembler(boolean bars) {
        return new LineAssembler(
                bars,
                (bytes, length, end) -> lines.add(new String(bytes, 0, length, StandardCharsets.UTF_8) + (char) end));
    }

    private static void feed(LineAssembler assembler, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assembler.accept(bytes, bytes.length);
    }
}
