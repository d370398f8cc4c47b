package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Processes of one job by {@code auto}, of which not all have a device of their own. */
@ExtendWith(StandInPair.class)
@Timeout(120)
class MixedDevicesTest {
    @TempDir
    private Path folder;

    @Test
    @DisplayName("2-18 decision 12: auto with NCCL on one rank and without on the other ends on the host's back end")
    void ranksWithAndWithoutADeviceMeetOnTheHost() throws Exception {
        assertEquals(
                List.of("view false product 30", "view false product 30"), run(Map.of("LOCAL_RANK", "0"), Map.of()));
        String told = Files.readString(folder.resolve("err0"));
        assertTrue(told.contains("rank 1 of 2 has no usable back end for device tensors"), told);
    }

    @Test
    @DisplayName("2-18 decision 12: ranks that nobody gives a device, as any program without a launcher, work by auto")
    void ranksThatNobodyGivesADeviceWorkByAuto() throws Exception {
        assertEquals(List.of("view false product 30", "view false product 30"), run(Map.of(), Map.of()));
    }

    private List<String> run(Map<String, String> first, Map<String, String> second) throws Exception {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null)) {
            ranks.add(start(0, store.port(), first));
            ranks.add(start(1, store.port(), second));
            List<String> said = new ArrayList<>();
            for (Process rank : ranks) {
                assertTrue(rank.waitFor(60, TimeUnit.SECONDS), "a rank still runs after 60 s");
                said.add(new String(rank.getInputStream().readAllBytes()).strip());
            }
            return said;
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    private Process start(int rank, int port, Map<String, String> variables) throws IOException {
        List<String> options = List.of("-Xmx64m", "-Dferro.timeout=20s", "-Dferro.rendezvous=tcp://127.0.0.1:" + port);
        ProcessBuilder builder = new ProcessBuilder(JavaLine.rank(options, JoinsByAuto.class.getName()));
        builder.environment().keySet().removeAll(List.of("LOCAL_RANK", "LOCAL_WORLD_SIZE"));
        builder.environment().putAll(StandInPair.variables());
        builder.environment().put("RANK", "" + rank);
        builder.environment().put("WORLD_SIZE", "2");
        builder.environment().put("FERRO_STORE_SERVED", "1");
        builder.environment().putAll(variables);
        return builder.redirectError(folder.resolve("err" + rank).toFile()).start();
    }
}
