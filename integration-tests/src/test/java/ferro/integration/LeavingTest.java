package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A rank may leave as soon as its own calls have returned: programs that do so, again and again, over every medium. The loops are
 * few in a plain build; {@code -Dferro.leaving.loops=10000} has as many as the promise says.
 */
@Tag("long")
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class LeavingTest {
    private static final int LOOPS = Integer.getInteger("ferro.leaving.loops", 20);
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    @ParameterizedTest(name = "{1} ranks, {0}")
    @CsvSource({
        "simulated, 2", "simulated, 3", "simulated, 4", "simulated, 5",
        "tcp, 2", "tcp, 3", "tcp, 4", "tcp, 5",
        "shm, 2", "shm, 3", "shm, 4", "shm, 5"
    })
    void ranksMayCloseRightAfterASubgroupAndABroadcast(String medium, int worldSize) {
        loop(medium, worldSize, LOOPS, group -> {
            group.barrier();
            ProcessGroup all = group.newGroup(everybody(group));
            float[] data = {group.rank() + 3, 4};
            all.broadcast(data, 0);
            assertEquals(3, data[0]);
            all.close();
        });
    }

    @ParameterizedTest(name = "{1} ranks on two hosts, {0}")
    @CsvSource({"hosts, 2", "hosts, 3", "hosts, 4", "hosts, 5"})
    void ranksOfTwoHostsMayCloseRightAfterABarrier(String medium, int worldSize) {
        loop(medium, worldSize, LOOPS, ProcessGroup::barrier);
    }

    @ParameterizedTest(name = "{1} floats, {0}")
    @CsvSource({
        "simulated, 1000", "simulated, 400000",
        "tcp, 1000", "tcp, 400000",
        "shm, 1000", "shm, 400000",
        "hosts, 1000", "hosts, 400000"
    })
    void theFirstStageOfAPipelineMayLeaveFirst(String medium, int floats) {
        loop(medium, 3, Math.max(4, LOOPS / 10), group -> EndsItsJvm.pipeline(group, floats));
    }

    private static int[] everybody(ProcessGroup group) {
        int[] ranks = new int[group.worldSize()];
        Arrays.setAll(ranks, rank -> rank);
        return ranks;
    }

    /** Runs ranks of this JVM, each on a thread of its own that runs ahead as it can. */
    private static void loop(String medium, int worldSize, int loops, Consumer<ProcessGroup> program) {
        List<SystemContext> contexts = new ArrayList<>();
        List<String> failed = Collections.synchronizedList(new ArrayList<>());
        try (Ranks ranks = new Ranks(Map.of(), contexts::add)) {
            Map<Integer, List<SimulatedBackend>> simulated = new ConcurrentHashMap<>();
            List<Future<ProcessGroup>> first =
                    medium.equals("simulated") ? List.of() : ranks.join(DEADLINE, settings(medium, worldSize));
            List<CompletableFuture<Boolean>> running = new ArrayList<>();
            for (int each = 0; each < worldSize; each++) {
                int rank = each;
                IntFunction<ProcessGroup> join = loop -> {
                    if (first.isEmpty()) {
                        return ProcessGroup.of(simulated
                                .computeIfAbsent(loop, group -> SimulatedBackend.createGroup(worldSize))
                                .get(rank));
                    }
                    return loop == 0
                            ? OnThread.result(first.get(rank))
                            : Groups.join(GroupSpec.of("loop" + loop, rank, worldSize, DEADLINE), contexts.get(rank));
                };
                running.add(OnThread.start(() -> failed.addAll(failures(medium, rank, loops, join, program))));
            }
            running.forEach(CompletableFuture::join);
        }
        assertEquals(List.of(), failed, failed.size() + " of " + loops * worldSize + " ends failed");
    }

    private static List<Map<String, String>> settings(String medium, int worldSize) {
        return IntStream.range(0, worldSize)
                .mapToObj(rank -> medium.equals("hosts")
                        ? Map.of("ferro.links", "auto", "ferro.host", rank % 2 == 0 ? "a" : "b")
                        : Map.of("ferro.links", medium))
                .toList();
    }

    private static List<String> failures(
            String medium, int rank, int loops, IntFunction<ProcessGroup> join, Consumer<ProcessGroup> program) {
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            try (ProcessGroup group = join.apply(i)) {
                String report = group.linkReport();
                boolean isOver = switch (medium) {
                    case "tcp" -> report.endsWith("do not share memory: ferro.links=tcp");
                    case "hosts" -> report.contains("(host b)");
                    default -> report.contains("all " + group.worldSize() + " ranks share");
                };
                assertTrue(isOver, report);
                program.accept(group);
            } catch (RuntimeException failure) {
                failed.add("loop " + i + " rank " + rank + ": " + failure);
            }
        }
        return failed;
    }
}
