package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that a group makes of its own before the program has it. */
@Timeout(60)
class WarmUpTest {
    @Test
    void theLongestOfAllRanksCountsAndThenTheGroupIsTheProgramsOwn() {
        try (TcpJob job = new TcpJob(3, Ranks.LONG, Map.of())) {
            long begun = System.nanoTime();
            List<ProcessGroup> groups = joining(job, "1ms", "250ms", "1ms").stream()
                    .map(TcpJob::result)
                    .toList();
            assertTrue(System.nanoTime() - begun >= TimeUnit.MILLISECONDS.toNanos(250));

            for (float[] sum : TcpJob.onAll(groups, WarmUpTest::sum)) {
                assertArrayEquals(new float[] {2 + 3 + 4, 60}, sum);
            }
        }
    }

    @Test
    void aRankThatDoesNotWarmUpIsTakenForNoneThatDoes() {
        try (TcpJob job = new TcpJob(2, Ranks.LONG, Map.of())) {
            List<CompletableFuture<ProcessGroup>> joining = joining(job, "20ms", "0s");
            ProcessGroup cold = TcpJob.result(joining.get(1));
            FerroException told = assertThrows(FerroException.class, () -> sum(cold));
            assertEquals(Code.MISMATCH, told.code());
            assertTrue(told.getMessage().contains("user:ferro.warmup"), told.getMessage());
            assertThrows(CompletionException.class, () -> TcpJob.result(joining.get(0)));
        }
    }

    private static List<CompletableFuture<ProcessGroup>> joining(TcpJob job, String... times) {
        List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < times.length; rank++) {
            joining.add(job.joining("world", rank, job.context(Map.of("ferro.warmup", times[rank]))));
        }
        return joining;
    }

    private static float[] sum(ProcessGroup group) {
        float[] data = {2 + group.rank(), 20};
        group.allReduce(data, ReduceOp.SUM);
        return data;
    }
}
