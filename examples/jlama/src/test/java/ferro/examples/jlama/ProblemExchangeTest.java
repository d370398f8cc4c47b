package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.simulated.SimulatedBackend;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProblemExchangeTest {
    @Test
    void aProblemOfOneRankStopsAllAndNamesTheRank() {
        SimulatedBackend.run(3, group -> {
            Optional<String> own = group.rank() == 1 ? Optional.of("no file") : Optional.empty();
            assertEquals(Optional.of("rank 1: no file"), new ProblemExchange(group).firstProblem(own));
        });
    }

    @Test
    void aProblemOfAllRanksIsReportedOnce() {
        SimulatedBackend.run(3, group -> {
            ProblemExchange agreement = new ProblemExchange(group);
            assertEquals(Optional.of("no file"), agreement.firstProblem(Optional.of("no file")));
            assertEquals(Optional.empty(), agreement.firstProblem(Optional.empty()));
        });
    }

    @Test
    void aRankWithAnotherModelIsNamed() {
        SimulatedBackend.run(3, group -> {
            ProblemExchange agreement = new ProblemExchange(group);
            assertEquals(
                    Optional.of("rank 2 has another model than rank 0: all ranks need the same"),
                    agreement.firstDifference("model", group.rank() == 2 ? "b" : "a"));
            assertEquals(Optional.empty(), agreement.firstDifference("model", "a"));
        });
    }
}
