package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
    void ranksOnTwoJdksAddUpOverTls(int onTheOther) throws Exception {
        int own = Runtime.version().feature();
        int other = own == 17 ? 25 : 17;
        Optional<Path> jdk = Jdks.find(other);
        assumeTrue(jdk.isPresent(), "no JDK " + other + " in JAVA_HOME_" + other + ", JAVA_HOME and " + Jdks.INSTALLED);
        Map<String, String> variables = variables();
        List<Process> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < 2; rank++) {
                Path home = rank == onTheOther ? jdk.get() : Path.of(System.getProperty("java.home"));
                ranks.add(start(home, variables, rank));
            }
            for (int rank = 0; rank < 2; rank++) {
                assertTrue(ranks.get(rank).waitFor(60, TimeUnit.SECONDS), "rank " + rank + " still runs");
                String said = Files.readString(printed(rank));
                String need = "JDK " + (rank == onTheOther ? other : own) + ", TCP (loopback) with TLS, wrong: 0";
                assertEquals(1, said.lines().filter(need::equals).count(), said);
                assertEquals(0, ranks.get(rank).exitValue(), said);
            }
        } finally {
            ranks.forEach(Process::destroyForcibly);
        }
    }

    private Map<String, String> variables() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "c0ffee".repeat(10));
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Map<String, String> variables = new HashMap<>();
        variables.put("FERRO_BACKEND", "tcp");
        variables.put("FERRO_LINKS", "tcp");
        variables.put("FERRO_TLS", "on");
        variables.put("FERRO_SECRET_FILE", secret.toString());
        variables.put("WORLD_SIZE", "2");
        variables.put("MASTER_ADDR", "127.0.0.1");
        variables.put("MASTER_PORT", "" + Ports.free());
        return variables;
    }

    private Process start(Path home, Map<String, String> variables, int rank) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                home.resolve("bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                LauncherRun.classPath(),
                SumsOnAnyJdk.class.getName());
        builder.environment().putAll(variables);
        builder.environment().put("RANK", "" + rank);
        builder.redirectErrorStream(true).redirectOutput(printed(rank).toFile());
        return builder.start();
    }

    private Path printed(int rank) {
        return folder.resolve("printed-" + rank);
    }
}
