package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class LossCheckTest {
    @Test
    void largestDifferenceIsRelativeToTheLossOfOneProcess() {
        double[] together = {4.0, 2.2, 7};
        double[] alone = {4.1, 2.0};

        assertEquals(0.1, LossCheck.largestDifference(together, alone), 1e-9);
    }

    @Test
    void lossThatIsNoNumberIsNeverAllowed() {
        double difference = LossCheck.largestDifference(new double[] {Double.NaN, 3}, new double[] {3, 3});

        assertFalse(difference <= LossCheck.ALLOWED, "difference " + difference);
    }
}
