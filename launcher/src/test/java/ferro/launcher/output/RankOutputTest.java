package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a trace says of why a rank ended. */
class RankOutputTest {
    private static final String MAIN = "Exception in thread \"main\" ";

    @Test
    void ranksThatReceivedTheSameFailureHaveTheSameReason() {
        Optional<String> expected = Optional.of("PEER_LOST: rank 2 is gone (seen by rank 0 of \"world\")");

        assertEquals(
                expected,
                ended(MAIN
                                + "ferro.FerroException: PEER_LOST: allReduce on group \"the \"new\" world\" rank 0 seq 113: rank 2 is"
                                + " gone (seen by rank 0 of \"world\")")
                        .reason());
        assertEquals(
                expected,
                ended(MAIN
                                + "ferro.FerroException: PEER_LOST: recv from rank 2 tag 5 on group \"pair\" rank 0 (rank 1 of \"world\")"
                                + " seq 7: rank 2 is gone (seen by rank 0 of \"world\")")
                        .reason());
    }

    @Test
    void anExceptionIsOwnUnlessAFailedGroupCausedIt() {
        String thrown = "java.lang.IllegalStateException: no data: ferro.FerroException";

        assertTrue(ended(MAIN + thrown, "\tat app.Main.main(Main.java:3)").threwItsOwn());
        assertEquals(Optional.of(thrown), ended(MAIN + thrown).reason());
        assertFalse(ended(MAIN + thrown, "Caused by: ferro.FerroException: TIMED_OUT: x")
                .threwItsOwn());
        assertFalse(ended(MAIN + "ferro.FerroTransferException: NATIVE: x").threwItsOwn());
        assertTrue(ended(MAIN + "ferro.InvalidRankException: root 7").threwItsOwn());
        assertFalse(ended().threwItsOwn());
    }

    @Test
    void anExceptionOfAnotherThreadDidNotEndTheRank() {
        assertFalse(
                ended("Exception in thread \"logger\" java.lang.Error: other").threwItsOwn());
    }

    @Test
    void theLastLineIsTheExceptionOrTheLastLineWithText() {
        assertEquals(
                "java.lang.IllegalStateException: no data",
                new RankOutput(0, 17, List.of(MAIN + "java.lang.IllegalStateException: no data"), List.of("\tat a.B.c"))
                        .lastLine());
        assertEquals("step 3", new RankOutput(0, 17, List.of(), List.of("step 2", "step 3", " ")).lastLine());
        assertEquals("", new RankOutput(0, 17, List.of(), List.of(" ")).lastLine());
        List<String> logged = List.of(
                "INFO ferro.join: waiting for ranks [0, 2] of 3",
                "WARNING ferro.group: rank 0 of \"world\" waits for rank 2");
        assertEquals("", new RankOutput(0, 17, List.of(), logged).lastLine());
    }

    @Test
    void colourSequencesOfALineAreRemoved() {
        LastLines tail = new LastLines();
        byte[] line =
                "\u001B[1;31mERROR\u001B[0m \u001B]0;title\u0007done\u0007 \u001B".getBytes(StandardCharsets.UTF_8);
        tail.add(line, line.length);

        assertEquals(List.of("ERROR done? ?"), tail.lines());
    }

    @Test
    void aMessageOfSeveralLinesIsKeptAlsoBehindAnEarlierTrace() {
        LastLines tail = new LastLines();
        List<String> ofMain =
                List.of(MAIN + "java.lang.IllegalStateException: no data in", "a.csv", "\tat a.B.c(B.java:3)");
        Stream.concat(
                        Stream.of("Exception in thread \"logger\" java.lang.Error: closed", "\tat a.L.run"),
                        ofMain.stream())
                .map(line -> line.getBytes(StandardCharsets.UTF_8))
                .forEach(line -> tail.add(line, line.length));

        assertEquals(ofMain, tail.trace());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            ferro.FerroException: RENDEZVOUS: joining "g" as rank 0 failed, missing: [1, 12] of 13, which did | [1, 12]
            SEVERE: joining "a "b" [3] of 4" as rank 0 failed after 10 ms, waiting for ranks [2] of 3: reset | [2]
            joining "g" as rank 0 failed, missing: [3] of 4, " as rank 0 failed, missing: [2] of 4, which did | [2]
            [0] heard: joining "g" as rank 1 failed, missing: [2] of 3, which did not join within 10 ms | []
            joining "lobby" as rank 0 failed, missing: [2] of 3 players | []
            joining "lobby" as rank 0 failed, missing: [1 2,, 99999999999] of 3, which | []
            """)
    void missingRanksAreReadFromTheOwnJoinFailure(String line, String missing) {
        assertEquals(missing, ended(line).missing().stream().sorted().toList().toString());
    }

    private static RankOutput ended(String... trace) {
        return new RankOutput(0, 17, List.of(trace), List.of());
    }
}
