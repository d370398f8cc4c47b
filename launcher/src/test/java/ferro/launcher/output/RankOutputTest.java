package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a trace says of why a rank ended. */
class RankOutputTest {
    private static final String MAIN = "Exception in thread \"main\" ";

    @Test
    void reasonIsTheSameForAllRanksThatWereToldTheSame() {
        Optional<String> expected = Optional.of("PEER_LOST: rank 2 is gone (seen by rank 0 of \"world\")");

        assertEquals(
                expected,
                ended(MAIN + "ferro.FerroException: PEER_LOST: allReduce on group \"world\" rank 0 seq 113: rank 2 is"
                                + " gone (seen by rank 0 of \"world\")")
                        .reason());
        assertEquals(
                expected,
                ended(MAIN + "ferro.FerroException: PEER_LOST: recv from rank 2 tag 5 on group \"world\" rank 1: rank 2"
                                + " is gone (seen by rank 0 of \"world\")")
                        .reason());
    }

    @Test
    void exceptionOfTheProgramIsItsOwnUnlessAFailedGroupIsItsCause() {
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
    void exceptionOfAnotherThreadHasNotEndedTheRank() {
        assertFalse(
                ended("Exception in thread \"logger\" java.lang.Error: other").threwItsOwn());
    }

    private static RankOutput ended(String... trace) {
        return new RankOutput(0, 17, List.of(trace), List.of());
    }
}
