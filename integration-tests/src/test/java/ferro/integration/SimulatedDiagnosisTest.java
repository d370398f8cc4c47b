package ferro.integration;

import ferro.harness.Medium;
import ferro.harness.Ranks;

/** The rows of diagnosis over the simulated medium. */
class SimulatedDiagnosisTest extends DiagnosisRows {
    @Override
    Ranks ranks(int worldSize) {
        return Ranks.over(Medium.SIMULATED, worldSize);
    }
}
