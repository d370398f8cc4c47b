package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RankEndTest {
    private static final RankEnd KILLED = RankEnd.of(17, "b", 137).bySignal("KILL");

    @Test
    void theTextHasTheProcessItsEndAndItsLastLine() {
        assertEquals(
                "rank 2 (pid 17 on host b) ended with exit code 3",
                RankEnd.of(17, "b", 3).text(2));
        assertEquals("rank 2 (pid 17 on host b) was ended by signal KILL", KILLED.text(2));
        assertEquals(
                "rank 2 (pid 17 on host b) was ended by signal KILL; its last line: step 3",
                KILLED.afterLine("step 3").text(2));
    }

    @Test
    void aLineIsCutBetweenCharactersTo200Chars() {
        assertEquals(
                "x".repeat(200), KILLED.afterLine("x".repeat(201)).lastLine().orElse(""));
        // a character of two chars that would begin at the last one
        String line = "x".repeat(199) + "\uD83D\uDE00";
        assertEquals("x".repeat(199), KILLED.afterLine(line).lastLine().orElse(""));
    }

    @Test
    void charactersThatChangeWhatATerminalShowsAreReplaced() {
        String line = "a\u001B[2Jb\nc\u0085d\u202Ee\u2028f\uD800g\tä";

        assertEquals(Optional.of("a?[2Jb?c?d?e?f?g?ä"), KILLED.afterLine(line).lastLine());
        RankEnd end = RankEnd.of(17, "b\u001B[2J", 137).bySignal("KI\nLL");
        assertEquals("rank 2 (pid 17 on host b?[2J) was ended by signal KI?LL", end.text(2));
    }

    @Test
    void endsOfRanksAreListedInAscendingOrder() {
        RankEnd other = RankEnd.of(18, "c", 1);
        FerroException.Where where =
                FerroException.Where.of("world", 0).blaming(1).ended(Map.of(4, other, 1, KILLED));

        assertEquals(
                "{1=" + KILLED + ", 4=" + other + "}", where.blaming(2).ends().toString());
        assertEquals(Map.of(), FerroException.Where.of("world", 0).ends());
    }
}
