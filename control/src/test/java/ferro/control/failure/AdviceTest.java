package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AdviceTest {
    static String[] advice() {
        return new String[] {Advice.ITS_OUTPUT, Advice.THEIR_OUTPUT, Advice.SILENT, Advice.UNANSWERED, Advice.left(12)};
    }

    @ParameterizedTest
    @MethodSource("advice")
    void textOfAFailureStaysWithoutItsAdvice(String advice) {
        assertEquals(
                "rank 12 is gone (seen by rank 1 of \"dp\")",
                Advice.removedFrom("rank 12 is gone" + advice + " (seen by rank 1 of \"dp\")"));
    }
}
