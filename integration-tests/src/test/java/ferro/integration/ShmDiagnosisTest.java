package ferro.integration;

import ferro.harness.Ranks;

class ShmDiagnosisTest extends DiagnosisRows {
    @Override
    Ranks ranks(int worldSize) {
        return Ranks.over("shm", worldSize);
    }
}
