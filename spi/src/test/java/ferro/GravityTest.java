package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException.Code;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which of two codes is the graver one. */
class GravityTest {
    @Test
    @DisplayName("decision 10: from what is a cause to what others cause")
    void codesThatCauseOthersHaveMoreGravity() {
        List<Code> gravestFirst = Arrays.stream(Code.values())
                .sorted(Comparator.comparingInt(Code::gravity))
                .limit(9)
                .toList();

        assertEquals(
                List.of(
                        Code.PEER_LOST,
                        Code.NATIVE,
                        Code.RESOURCE,
                        Code.PROTOCOL,
                        Code.MISMATCH,
                        Code.PARTITION,
                        Code.TIMED_OUT,
                        Code.INTERRUPTED,
                        Code.ABORTED),
                gravestFirst);
    }

    @Test
    void noTwoCodesAreEquallyGrave() {
        Set<Integer> places =
                EnumSet.allOf(Code.class).stream().map(Code::gravity).collect(Collectors.toSet());

        assertEquals(Code.values().length, places.size(), places::toString);
        assertEquals(false, places.contains(-1), places::toString);
    }
}
