package ferro.integration;

import ferro.harness.Ranks;

/** The rows of diagnosis over shared memory. */
class ShmDiagnosisTest extends DiagnosisRows {
    @Override
    Ranks ranks(int worldSize) {
        return Ranks.over("shm", worldSize);
    }
}
