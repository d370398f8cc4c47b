package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Job;
import ferro.integration.hosts.NamespaceHosts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One job of ranks on JDK 17 and on JDK 25, each with the TLS engine of its own JDK, over sockets. */
class MixedJdksTest {
    @TempDir
    private Path folder;

    /** Rank 0 connects, and rank 1 accepts. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @Tag("long")
    void ranksOnTwoJdksCalculateSumsOverTls(int onTheOther) throws Exception {
        int own = Runtime.version().feature();
        int other = own == 17 ? 25 : 17;
        Path jdk = Jdks.assumed(other);
        Path secret = NamespaceHosts.secret(folder, "secret", "c0ffee".repeat(10));
        Map<String, String> variables = Map.of(
                "FERRO_BACKEND", "tcp", "FERRO_LINKS", "tcp", "FERRO_TLS", "on", "FERRO_SECRET_FILE", "" + secret);
        List<String> line = JavaLine.rank(List.of(), SumsOnAnyJdk.class.getName());
        List<String> lineOfOther = new ArrayList<>(JavaLine.shortLived());
        lineOfOther.addAll(List.of("-cp", LauncherRun.classPath(), SumsOnAnyJdk.class.getName()));
        lineOfOther.set(0, jdk.resolve("bin/java").toString());
        try (Job job = Job.byHand(2, variables, rank -> rank == onTheOther ? lineOfOther : line)) {
            for (int rank = 0; rank < 2; rank++) {
                String said = job.rank(rank).ended(0);
                String need = "JDK " + (rank == onTheOther ? other : own) + ", TCP (loopback) with TLS, wrong: 0";
                assertEquals(1, said.lines().filter(need::equals).count(), said);
            }
        }
    }
}
