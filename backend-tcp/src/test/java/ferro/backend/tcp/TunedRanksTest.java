package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
        String ring = table("ring", "allReduce 3 max ring", "allReduce 4 max ring");
        String doubling = table("doubling", "allReduce 3 max recursiveDoubling", "allReduce 4 max recursiveDoubling");
        Sums byRing = sums(ring, ring, ring, ring);
        Sums byDoubling = sums(doubling, doubling, doubling, doubling);
        assertNotEquals(byRing.ofFour(), byDoubling.ofFour(), "the order of adding shows");
        assertNotEquals(byRing.ofThree(), byDoubling.ofThree(), "the order of adding shows");

        assertEquals(byRing, sums(ring, doubling, null, doubling));
        assertEquals(byDoubling, sums(doubling, ring, null, ring));
    }

    @Test
    void rankZeroWithoutATableHasNobodyUseOne() throws IOException {
        String ring = table("ring", "allReduce 3 max ring", "allReduce 4 max ring");
        Sums withoutTable = sums(null, null, null, null);
        assertNotEquals(sums(ring, ring, ring, ring), withoutTable, "a table changes the order of adding");

        assertEquals(withoutTable, sums(null, ring, ring, ring));
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

    /** What all ranks of a group, and of a group of three of them without rank 0, got for a sum; as text, rank by rank. */
    private record Sums(String ofFour, String ofThree) {}

    private static Sums sums(String... tables) {
        try (TcpJob job = new TcpJob(4, Ranks.LONG, Map.of())) {
            List<ProcessGroup> groups = joined(job, tables);
            List<ProcessGroup> three = TcpJob.onAll(groups.subList(1, 4), group -> group.newGroup(3, 2, 1));
            return new Sums(sum(groups), sum(three));
        }
    }

    /** The large ones cancel each other, and what was added before that is rounded away: the order of adding shows. */
    private static String sum(List<ProcessGroup> groups) {
        float[] operands = {1e8f, 3, -1e8f, 5};
        List<float[]> sums = TcpJob.onAll(groups, group -> {
            float[] data = new float[12];
            Arrays.fill(data, operands[group.rank()]);
            group.allReduce(data, ReduceOp.SUM);
            return data;
        });
        for (float[] one : sums) {
            assertArrayEquals(sums.get(0), one, "all ranks have the same result");
        }
        return Arrays.toString(sums.get(0));
    }
}
