package org.example.starter;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.backend.simulated.SimulatedBackend;
import org.junit.jupiter.api.Test;

class MainTest {
    @Test
    void everyRankHasTheSum() {
        SimulatedBackend.run(3, group -> assertArrayEquals(new float[] {6, 60}, Main.sum(group)));
    }
}
