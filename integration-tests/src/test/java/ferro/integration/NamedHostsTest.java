package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that are started by hand, and a name of the first host that has several addresses. */
@Timeout(120)
class NamedHostsTest {
    @TempDir
    Path folder;

    @Test
    void aNameWhoseFirstAddressesAreDeadLeadsToRankZero() throws Exception {
        int port = Ports.free();
        List<Process> ranks = new ArrayList<>();
        try {
            ranks.add(start(0, port, "127.0.0.1 node0"));
            ranks.add(start(1, port, "::1 node0", "127.0.0.9 node0", "127.0.0.1 node0"));

            for (int rank = 0; rank < 2; rank++) {
                assertTrue(ranks.get(rank).waitFor(60, TimeUnit.SECONDS), "rank " + rank + " still runs");
                assertEquals("view false product 30\n", Files.readString(said(rank)));
            }
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    private Process start(int rank, int port, String... hosts) throws IOException {
        Path file = Files.write(folder.resolve("hosts-" + rank), List.of(hosts));
        List<String> options = List.of("-Xmx128m", "-Djdk.net.hosts.file=" + file, "-Dferro.join.timeout=20s");
        ProcessBuilder started = new ProcessBuilder(JavaLine.rank(options, JoinsByAuto.class.getName()));
        started.environment()
                .putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "MASTER_ADDR", "node0", "MASTER_PORT", "" + port));
        return started.redirectOutput(said(rank).toFile())
                .redirectError(Redirect.DISCARD)
                .start();
    }

    private Path said(int rank) {
        return folder.resolve("said-" + rank);
    }
}
