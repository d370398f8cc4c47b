package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AdviceTest {
    static String[] advice() {
        return new String[] {
            Advice.ITS_OUTPUT,
            Advice.THEIR_OUTPUT,
            Advice.SILENT,
            Advice.UNANSWERED,
            Advice.left(ranks(12)),
            Advice.left(ranks(1, 12))
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
                Advice.removedFrom("rank 12 is gone" + advice + " (seen by rank 1 of \"dp\")"));
    }
}
