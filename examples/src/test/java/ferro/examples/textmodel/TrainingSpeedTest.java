package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.examples.textmodel.Trainer.TrainingStep;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrainingSpeedTest {
    private static final long MILLI = 1_000_000;

    @Test
    void theSpeedIsThatOfTheMedianStepOfTheSecondHalf() {
        List<TrainingStep> steps = steps(900, 700, 500, 10, 20, 3000);

        assertEquals(50_000, TrainingSpeed.of(steps, 1000), 1e-6);
    }

    @Test
    void theFirstStepCountsIfItIsTheOnlyOne() {
        assertEquals(2_000, TrainingSpeed.of(steps(500), 1000), 1e-6);
    }

    @Test
    void theReportSaysNoIfOneRankIsAsFast() {
        assertEquals(
                "are 4 ranks faster than one? yes, 1.3 times as fast on 2 cores: 13,000 characters/s beside 10,000 of"
                        + " one rank (median step after warm-up)",
                new TrainingSpeed(4, 13_000, 10_000, 2).answer());
        assertEquals(
                "are 3 ranks faster than one? no, 1.0 times as fast on 1 core: 10,200 characters/s beside 10,000 of"
                        + " one rank (median step after warm-up)",
                new TrainingSpeed(3, 10_200, 10_000, 1).answer());
    }

    private static List<TrainingStep> steps(long... millis) {
        List<TrainingStep> steps = new ArrayList<>();
        long end = 0;
        for (long each : millis) {
            end += each * MILLI;
            steps.add(new TrainingStep(steps.size(), 1.5, end, 0));
        }
        return steps;
    }
}
