package ferro.launcher.restarts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.restarts.PastGenerations.PastGeneration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PastGenerationsTest {
    private final PastGenerations past = new PastGenerations();

    @Test
    void onlyGenerationIsListedToo() {
        past.add(new PastGeneration(0, 3, "node 1 is lost", ""));

        assertEquals(List.of("generation 0: 3.0 s, node 1 is lost"), past.lines());
    }

    @Test
    void eachGenerationHasItsLengthCauseAndCheckpoint() {
        past.add(new PastGeneration(0, 12.34, "rank 2 was ended by signal KILL", "step 1200"));
        past.add(new PastGeneration(1, 3, "all ranks ended with exit code 0", ""));

        assertEquals(
                List.of(
                        "generation 0: 12.3 s, rank 2 was ended by signal KILL, last checkpoint step 1200",
                        "generation 1: 3.0 s, all ranks ended with exit code 0"),
                past.lines());
    }

    @Test
    void oldGenerationsOfAJobThatFailsForWeeksAreLeftOut() {
        for (int number = 0; number < 23; number++) {
            past.add(new PastGeneration(number, 1, "rank 0 ended with exit code 1", ""));
        }

        assertEquals(21, past.lines().size());
        assertEquals("3 earlier generations are not shown", past.lines().get(0));
        assertEquals(
                "generation 3: 1.0 s, rank 0 ended with exit code 1",
                past.lines().get(1));
    }
}
