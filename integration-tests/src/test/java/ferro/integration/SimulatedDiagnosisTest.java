package ferro.integration;

/** The rows of diagnosis over the simulated medium. */
class SimulatedDiagnosisTest extends DiagnosisRows {
    @Override
    InProcessRanks ranks(int worldSize) {
        return InProcessRanks.simulated(worldSize);
    }
}
