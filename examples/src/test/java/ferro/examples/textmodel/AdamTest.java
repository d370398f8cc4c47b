package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class AdamTest {
    @Test
    void firstStepGoesDownhillByTheRateWhateverTheSlope() {
        float[] parameters = {3, 3, 3};

        new Adam(3, 0.25, 10).update(parameters, new float[] {0.5f, -700, 0});

        assertArrayEquals(new float[] {2.75f, 3.25f, 3}, parameters, 1e-4f);
    }

    @Test
    void lastStepsAreATenthOfTheFirst() {
        float[] parameters = {0};
        Adam adam = new Adam(1, 0.5, 20);
        float before = 0;
        for (int step = 0; step < 60; step++) {
            before = parameters[0];
            adam.update(parameters, new float[] {2});
        }

        assertEquals(0.05, before - parameters[0], 1e-3);
    }
}
