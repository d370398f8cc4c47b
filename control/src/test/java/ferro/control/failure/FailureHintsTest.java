package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FailureHintsTest {
    static String[] advice() {
        return new String[] {
            FailureHints.ITS_OUTPUT,
            FailureHints.THEIR_OUTPUT,
            FailureHints.SILENT,
            FailureHints.UNANSWERED,
            FailureHints.left(ranks(12)),
            FailureHints.left(ranks(1, 12))
        };
    }

    private static BitSet ranks(int... ranks) {
        BitSet all = new BitSet();
        IntStream.of(ranks).forEach(all::set);
        return all;
    }

    @ParameterizedTest
    @MethodSource("advice")
    void theAdviceIsRemovedFromTheTextOfAFailure(String advice) {
        assertEquals(
                "rank 12 is gone (seen by rank 1 of \"dp\")",
                FailureHints.removedFrom("rank 12 is gone" + advice + " (seen by rank 1 of \"dp\")"));
    }
}
