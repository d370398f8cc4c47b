package ferro.launcher.input;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlacementTest {

    @Test
    void theSecondHostOfThreeRanksEachStartsWithRankThree() {
        Placement second = new Placement(3, 2, 1);

        assertEquals(6, second.worldSize());
        assertEquals(3, second.firstRank());
        assertEquals("ranks 3 to 5 of 6", second.toString());
    }

    @Test
    void onlyTheFirstHostServesTheStore() {
        assertTrue(new Placement(3, 2, 0).servesStore());
        assertEquals(false, new Placement(3, 2, 1).servesStore());
    }

    @Test
    void impossibleNumbersAreNamedWithTheirOption() {
        assertMessage("-n 0", () -> new Placement(0, 1, 0));
        assertMessage("--nodes 0", () -> new Placement(2, 0, 0));
        assertMessage("--node-rank 2: need a number from 0 to 1", () -> new Placement(2, 2, 2));
        assertMessage("too many ranks", () -> new Placement(4096, 1_000_000, 0));
    }

    private static void assertMessage(String part, Runnable made) {
        String message = message(BadInputException.class, made::run);
        assertHas(message, part);
    }
}
