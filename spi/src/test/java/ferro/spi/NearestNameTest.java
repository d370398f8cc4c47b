package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {
    private static final List<String> COMMANDS = List.of("run", "demo", "bench", "analyze", "dump", "doctor");

    @ParameterizedTest
    @CsvSource({"rnu, run", "rum, run", "runn, run", "un, run", "analyse, analyze", "dmup, dump", "bnech, bench"})
    void aSwappedMissingOrWrongLetterIsFound(String typed, String meant) {
        assertEquals(Optional.of(meant), NearestName.of(typed, COMMANDS, 2));
    }

    @Test
    void aVeryDifferentNameHasNoNearest() {
        assertEquals(Optional.empty(), NearestName.of("jump-over", COMMANDS, 2));
        assertEquals(Optional.empty(), NearestName.of("run", List.of(), 2));
    }

    @Test
    void theFirstOfEqualDistanceIsTaken() {
        assertEquals(Optional.of("ab"), NearestName.of("aa", List.of("ab", "ac"), 1));
    }
}
