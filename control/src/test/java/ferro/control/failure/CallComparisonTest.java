package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rule that decides which ranks to blame for different calls. Ranks and {@code ferro analyze} share it. */
class CallComparisonTest {
    /** The letters are the calls of ranks 0, 1, 2 and so on; equal letters are equal calls. */
    @ParameterizedTest
    @CsvSource({
        "AAB, '[2]'",
        "ABB, '[0]'",
        "AB, '[0, 1]'",
        "AABB, '[0, 1, 2, 3]'",
        "AABC, '[0, 1, 2, 3]'",
        "ABAAC, '[1, 4]'",
        "ABCAABA, '[1, 2, 5]'",
        "AABBC, '[0, 1, 2, 3, 4]'"
    })
    void ranksThatDifferFromMoreThanHalfAreBlamed(String letters, String blamed) {
        Map<Integer, Character> calls = new TreeMap<>();
        for (int rank = 0; rank < letters.length(); rank++) {
            calls.put(rank, letters.charAt(rank));
        }

        assertEquals(blamed, CallComparison.odd(calls).toString());
    }

    @Test
    void callsThatDifferOnlyInLengthsAreAdvisedToUseCounts() {
        List<String> calls = List.of("allReduce f32[4] sum by flat", "allReduce f32[5000000] sum by ring");

        assertEquals("lengths differ", CallComparison.problem(calls));
        assertTrue(CallComparison.remedy(calls).contains("forms with counts"), CallComparison.remedy(calls));
    }

    @Test
    void callsThatDifferOnlyInRootsAreReportedAsDifferentRoots() {
        List<String> calls = List.of(
                "broadcast \"w\" f32[4] root 0 by staged",
                "broadcast \"w\" f32[4] root 1 by binomial",
                "broadcast \"w\" f32[4] root 0 by staged");

        assertEquals("roots differ", CallComparison.problem(calls));
        assertEquals("all ranks must name the same root", CallComparison.remedy(calls));
        assertTrue(CallComparison.isOfOneValue(calls));
    }

    @Test
    void callsThatDifferInMoreThanOneValueAreReportedAsDifferentCalls() {
        for (List<String> calls : List.of(
                List.of("allReduce f32[4] sum by flat", "allReduce f32[5] max by flat"),
                List.of("broadcast \"root 0\" f32[4] root 1 by flat", "broadcast \"root 2\" f32[4] root 1 by flat"),
                List.of("broadcast f32[4] root 0 by flat", "broadcast f32[5] root 1 by flat"),
                List.of("allReduce \"a\" f32[4] sum by flat", "allReduce \"b\" f32[4] sum by flat"),
                List.of("allReduce f32[4] sum by flat", "allReduce f32[4] sum by ring"))) {
            assertEquals("ranks made different calls", CallComparison.problem(calls), calls::toString);
            assertEquals("all ranks must make the same calls in the same order", CallComparison.remedy(calls));
        }
    }
}
