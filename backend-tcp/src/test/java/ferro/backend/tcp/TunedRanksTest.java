package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks with tables of algorithms that differ, over links. */
@Timeout(60)
class TunedRanksTest {
    @TempDir
    private Path folder;

    @Test
    void theTableOfRankZeroIsInForceOnAllAndInTheGroupsOfOthers() throws IOException {
        String ring = table("ring", "allReduce 2 max ring", "allReduce 3 max ring");
        String doubling = table("doubling", "allReduce 2 max recursiveDoubling", "allReduce 3 max recursiveDoubling");
        try (TcpJob job = new TcpJob(3, Ranks.LONG, Map.of())) {
            List<ProcessGroup> groups = joined(job, ring, doubling, null);

            TcpJob.onAll(groups, TunedRanksTest::sum);
            List<ProcessGroup> pair = TcpJob.onAll(groups.subList(1, 3), group -> group.newGroup(2, 1));
            TcpJob.onAll(pair, TunedRanksTest::sum);

            for (FerroException told : TcpJob.onAll(pair, TunedRanksTest::differ)) {
                assertTrue(told.getMessage().contains("by ring"), told.getMessage());
                assertFalse(told.getMessage().contains("recursiveDoubling"), told.getMessage());
            }
        }
    }

    @Test
    void rankZeroWithoutATableHasNobodyUseOne() throws IOException {
        String direct = table("direct", "allReduce 2 max halvingDoubling");
        try (TcpJob job = new TcpJob(2, Ranks.LONG, Map.of())) {
            TcpJob.onAll(joined(job, null, direct), TunedRanksTest::sum);
        }
    }

    @Test
    void nobodyWaitsForARankWhoseTableCannotBeRead() {
        try (TcpJob job = new TcpJob(2, Ranks.LONG, Map.of())) {
            for (CompletableFuture<ProcessGroup> one : joining(job, null, folder + "/none")) {
                String told = assertThrows(CompletionException.class, () -> TcpJob.result(one))
                        .getCause()
                        .getMessage();
                assertTrue(told.contains("none cannot be read"), told);
            }
        }
    }

    private String table(String name, String... lines) throws IOException {
        return Files.write(folder.resolve(name), List.of(lines)).toString();
    }

    private static List<CompletableFuture<ProcessGroup>> joining(TcpJob job, String... tables) {
        List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < tables.length; rank++) {
            Map<String, String> own = tables[rank] == null ? Map.of() : Map.of("ferro.algorithm.table", tables[rank]);
            joining.add(job.joining("world", rank, job.context(own)));
        }
        return joining;
    }

    private static List<ProcessGroup> joined(TcpJob job, String... tables) {
        return joining(job, tables).stream().map(TcpJob::result).toList();
    }

    private static Object sum(ProcessGroup group) {
        float[] data = {3 + group.rank(), 20};
        group.allReduce(data, ReduceOp.SUM);
        assertEquals(20 * group.worldSize(), data[1]);
        return null;
    }

    private static FerroException differ(ProcessGroup group) {
        float[] data = {3, 20};
        return assertThrows(
                FerroException.class, () -> group.allReduce(data, group.rank() == 0 ? ReduceOp.SUM : ReduceOp.MAX));
    }
}
