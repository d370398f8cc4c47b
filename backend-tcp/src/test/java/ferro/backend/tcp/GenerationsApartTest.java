package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ranks that a launcher of others has started again never meet ranks of the start before. */
@Timeout(60)
class GenerationsApartTest {
    /**
     * A launcher, played by the variables that it sets.
     *
     * @param restarts the variable in which it counts its restarts
     * @param rank     the variable of the rank
     * @param others   what all ranks have
     */
    private record Launcher(String restarts, String rank, Map<String, String> others) {
        private SystemContext context(int number, int generation, int port) {
            Map<String, String> all = new HashMap<>(others);
            all.put(rank, "" + number);
            all.put(restarts, "" + generation);
            all.put("MASTER_ADDR", "127.0.0.1");
            all.put("MASTER_PORT", "" + port);
            all.put("ferro.backend", "tcp");
            all.put("ferro.join.timeout", "20s");
            return SystemContext.of(all);
        }

        @Override
        public String toString() {
            return restarts;
        }
    }

    private static Stream<Launcher> launchers() {
        return Stream.of(
                new Launcher(
                        "TORCHELASTIC_RESTART_COUNT",
                        "RANK",
                        Map.of("WORLD_SIZE", "2", "LOCAL_RANK", "0", "LOCAL_WORLD_SIZE", "2")),
                new Launcher(
                        "SLURM_RESTART_COUNT",
                        "SLURM_PROCID",
                        Map.of("SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0", "SLURM_STEP_NUM_TASKS", "2")),
                new Launcher("JOBSET_RESTART_ATTEMPT", "JOB_COMPLETION_INDEX", Map.of("FERRO_WORLD_SIZE", "2")),
                new Launcher("FERRO_GENERATION", "RANK", Map.of("WORLD_SIZE", "2")));
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void aRankOfAnEarlierGenerationIsRefusedWithTheReason(Launcher launcher) throws IOException {
        FerroException refused = refused(launcher, 1, 0);

        assertEquals(Code.RENDEZVOUS, refused.code(), refused.getMessage());
        String text = "(?s).*this is job \".+[.]1\", you belong to job \".+[.]0\", an earlier.*";
        assertTrue(refused.getMessage().matches(text), refused.getMessage());
    }

    @Test
    void aRankOfALaterGenerationIsRefusedWhileTheEarlierOneRuns() throws IOException {
        String text = refused(launchers().findFirst().orElseThrow(), 0, 1).getMessage();
        assertTrue(text.contains("a later generation: end the processes of the earlier one first"), text);
    }

    /** Returns why a process of another generation is refused, beside which two ranks of one start join and add up. */
    private static FerroException refused(Launcher launcher, int generation, int otherGeneration) throws IOException {
        int port = Sockets.freePort();
        try (SystemContext first = launcher.context(0, generation, port);
                SystemContext other = launcher.context(1, otherGeneration, port);
                SystemContext second = launcher.context(1, generation, port)) {
            CompletableFuture<Float> serving = Threads.start(() -> sum(first));
            FerroException refused = assertThrows(FerroException.class, other::join);
            assertEquals(3, sum(second));
            assertEquals(3, Ranks.result(serving));
            return refused;
        }
    }

    private static float sum(SystemContext context) {
        try (ProcessGroup group = context.join();
                ProcessGroup both = group.newGroup(0, 1)) {
            assertEquals(context.setting("FERRO_GENERATION").orElseThrow(), "" + group.generation());
            assertEquals(group.generation(), both.generation());
            float[] data = {group.rank() + 1};
            both.allReduce(data, ReduceOp.SUM);
            return data[0];
        }
    }
}
