package ferro.integration;

import ferro.harness.Medium;
import ferro.harness.Ranks;

class SimulatedDiagnosisTest extends DiagnosisRows {
    @Override
    Ranks ranks(int worldSize) {
        return Ranks.over(Medium.SIMULATED, worldSize);
    }
}
