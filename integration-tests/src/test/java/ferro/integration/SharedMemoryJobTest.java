package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which ranks share memory, by their settings; ranks are threads of this JVM that map as processes of their own would. */
class SharedMemoryJobTest {
    @TempDir
    private Path folder;

    private Ranks ranks;

    @BeforeEach
    void open() {
        ranks = new Ranks(Map.of("ferro.shm.dir", folder.toString()));
    }

    @AfterEach
    void close() {
        ranks.close();
    }

    @Test
    void ranksOfOneFolderShareMemoryByDefault() throws Exception {
        List<ProcessGroup> groups = joined(List.of(Map.of(), Map.of(), Map.of()));

        assertFalse(mapped().isEmpty());
        sum(groups);
        // below, at and above where chunks become larger, with a last one of one element
        for (int elements : new int[] {(1 << 19) - 1, 1 << 19, (5 << 18) + 1}) {
            sumOfMany(groups, elements);
        }
        close(groups);
        assertEquals(List.of(), mapped());
    }

    /** A rank that has connected to all others closes, while these still connect to each other. */
    @Test
    void aRankMayCloseAGroupThatOthersAreStillMaking() {
        List<ProcessGroup> groups = joined(List.of(Map.of(), Map.of(), Map.of(), Map.of()));

        for (int round = 0; round < 10; round++) {
            Ranks.eachOf(groups, group -> group.newGroup(3, 1, 0, 2).close());
        }
        close(groups);
    }

    /** Whether the abort finds a rank that still makes its end or one that has it already: the group was made, and has failed. */
    @Test
    void aRankMayAbortAGroupThatOthersAreStillMaking() {
        List<ProcessGroup> groups = joined(List.of(Map.of(), Map.of(), Map.of(), Map.of()));

        for (int round = 0; round < 10; round++) {
            List<Future<FerroException>> making = new ArrayList<>();
            groups.forEach(group -> making.add(OnThread.start(() -> aborted(group.newGroup(3, 1, 0, 2)))));
            making.forEach(
                    one -> assertEquals(Set.of(0), OnThread.result(one).where().culprits()));
        }
        close(groups);
    }

    private static FerroException aborted(ProcessGroup part) {
        if (part.rank() == 0) {
            part.abort(new IllegalStateException("out of paper"));
        }
        FerroException failure = assertThrows(FerroException.class, () -> {
            while (true) {
                part.barrier();
            }
        });
        part.close();
        return failure;
    }

    @Test
    void oneRankWithoutSharedMemoryKeepsAllRanksOnTcp() throws Exception {
        List<ProcessGroup> groups = joined(List.of(Map.of(), Map.of("ferro.links", "tcp"), Map.of()));

        assertEquals(List.of(), mapped());
        sum(groups);
        close(groups);
    }

    @Test
    void aRankThatNeedsSharedMemoryNamesTheRankWithoutIt() {
        Throwable first = failures(List.of(Map.of("ferro.backend", "shm"), Map.of("ferro.links", "tcp")))
                .get(0);

        FerroException failure = assertInstanceOf(FerroException.class, first);

        assertEquals(Code.RESOURCE, failure.code());
        assertTrue(failure.getMessage().contains("rank 1 shares no memory: ferro.links=tcp"), failure.getMessage());
    }

    /** A rank that joins later fails as the waiting ranks do. */
    @ParameterizedTest
    @CsvSource({"shm,shm,shm", "auto,shm,auto"})
    void aRankThatNeedsSharedMemoryButHasNoneFailsAllAtOnce(String first, String second, String third) {
        List<Throwable> failures = failures(List.of(
                Map.of("ferro.links", first),
                Map.of("ferro.links", second, "ferro.shm.dir", folder + "/none"),
                Map.of("ferro.links", third)));

        IllegalArgumentException lame = assertInstanceOf(IllegalArgumentException.class, failures.get(1));
        assertTrue(lame.getMessage().contains("none is not a folder"), lame.getMessage());
        for (int rank : new int[] {0, 2}) {
            String told = failures.get(rank).getMessage();
            assertTrue(told.contains("rank 1") && told.contains("none is not a folder"), told);
        }
    }

    @Test
    void aRankWithAnInvalidSegmentSizeFailsAllAtOnce() {
        Map<String, String> shm = Map.of("ferro.backend", "shm");
        List<Throwable> failures = failures(List.of(shm, Map.of("ferro.backend", "shm", "ferro.segment", "soon"), shm));

        assertInstanceOf(IllegalArgumentException.class, failures.get(1));
        for (int rank : new int[] {0, 2}) {
            String told = failures.get(rank).getMessage();
            assertTrue(told.contains("rank 1 of \"world\": ferro.segment=soon: need a size"), told);
        }
    }

    /** Only the first may use nothing else, and sees it when all have come. */
    @Test
    void aRankThatNeedsSharedMemoryOfAnotherFailsAllAtOnce() {
        Map<String, String> tcp = Map.of("ferro.links", "tcp");
        for (Throwable failure : failures(List.of(Map.of("ferro.links", "shm"), tcp, tcp))) {
            String told = failure.getMessage();
            assertTrue(told.contains("ferro.links=shm on rank 0") && told.contains("rank 1 shares no memory"), told);
        }
    }

    @ParameterizedTest
    @CsvSource({"ferro.host,elsewhere,hosts are", "ferro.shm.bytes,4096,need"})
    void ranksThatNeedSharedMemoryFailAlikeIfOneCannotShare(String name, String value, String why) {
        Map<String, String> shm = Map.of("ferro.links", "shm");
        for (Throwable each : failures(List.of(shm, Map.of("ferro.links", "shm", name, value), shm))) {
            FerroException failure = assertInstanceOf(FerroException.class, each);
            assertEquals(Code.RESOURCE, failure.code(), failure.getMessage());
            assertTrue(failure.getMessage().contains(why), failure.getMessage());
        }
    }

    /** Waits for the failure of each rank a good deal shorter than the ranks would wait for each other. */
    private List<Throwable> failures(List<Map<String, String>> settingsByRank) {
        return ranks.join(Duration.ofSeconds(60), settingsByRank).stream()
                .map(rank -> assertThrows(ExecutionException.class, () -> rank.get(20, TimeUnit.SECONDS))
                        .getCause())
                .toList();
    }

    private List<ProcessGroup> joined(List<Map<String, String>> settingsByRank) {
        return ranks.joined(Duration.ofSeconds(30), settingsByRank);
    }

    private void sum(List<ProcessGroup> groups) {
        Ranks.eachOf(groups, group -> {
            float[] data = {1.5f + group.rank(), 10};
            group.allReduce(data, ReduceOp.SUM);
            assertArrayEquals(new float[] {7.5f, 30}, data);
        });
    }

    private void sumOfMany(List<ProcessGroup> groups, int elements) {
        Ranks.eachOf(groups, group -> {
            float[] data = numbers(elements, 1, group.rank());
            group.allReduce(data, ReduceOp.SUM);
            assertArrayEquals(numbers(elements, 3, 3), data);
        });
    }

    private static float[] numbers(int count, int times, int plus) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = times * (i % 1013) + plus;
        }
        return numbers;
    }

    private void close(List<ProcessGroup> groups) {
        Ranks.eachOf(groups, ProcessGroup::close);
    }

    private List<String> mapped() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(folder.toString())).toList();
        }
    }
}
