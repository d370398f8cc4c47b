package ferro.integration;

/** The rows of diagnosis over shared memory. */
class ShmDiagnosisTest extends DiagnosisRows {
    @Override
    InProcessRanks ranks(int worldSize) {
        return InProcessRanks.over("shm", worldSize);
    }
}
