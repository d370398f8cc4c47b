package ferro.integration;

/** The rows of diagnosis over sockets of the loopback interface. */
class TcpDiagnosisTest extends DiagnosisRows {
    @Override
    InProcessRanks ranks(int worldSize) {
        return InProcessRanks.tcp(worldSize);
    }
}
