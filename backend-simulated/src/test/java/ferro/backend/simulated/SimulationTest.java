package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SimulationTest {
    @Test
    void randomCollectivesEqualAPlainLoop() {
        Simulation.seeds(300).forEach(SimulationTest::runRandomProgram);
    }

    private static void runRandomProgram(long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        int worldSize = 2 + random.nextInt(7);
        Map<String, String> settings = Map.of(
                "ferro.algorithm",
                Program.ALGORITHMS.get(random.nextInt(Program.ALGORITHMS.size())),
                "ferro.segment",
                random.nextBoolean() ? "64" : "512KiB");
        List<Call> calls =
                Stream.generate(() -> draw(random, worldSize)).limit(5).toList();
        Simulation simulation = Simulation.of(worldSize, seed, settings);
        simulation
                .onEveryRank(group -> submit(calls, group, simulation))
                .check(() -> check(calls, worldSize))
                .run();
    }

    private static Call draw(SplittableRandom random, int worldSize) {
        CollectiveKind kind = Call.KINDS.get(random.nextInt(Call.KINDS.size()));
        int count = random.nextInt(random.nextInt(8) == 0 ? 3000 : 20);
        DataType type = Call.TYPES.get(random.nextInt(Call.TYPES.size()));
        ReduceOp op = Call.OPS.get(random.nextInt(Call.OPS.size()));
        return new Call(new Call.Shape(kind, type, count, random.nextInt(worldSize), op), worldSize, random, true);
    }

    /** Some ranks submit all at once, others one after the other. */
    private static void submit(List<Call> calls, ProcessGroup group, Simulation simulation) {
        if (group.rank() % 2 == 0) {
            calls.forEach(call -> call.submit(group));
        } else if (!calls.isEmpty()) {
            simulation.watch(calls.get(0)
                    .submit(group)
                    .completion()
                    .thenRun(() -> submit(calls.subList(1, calls.size()), group, simulation)));
        }
    }

    private static void check(List<Call> calls, int worldSize) {
        for (int rank = 0; rank < worldSize; rank++) {
            for (Call call : calls) {
                assertNull(call.wrongOn(rank), call + " on rank " + rank);
            }
        }
    }

    @Test
    void messagesAreReorderedBetweenLinksButNotOnOne() {
        Set<List<Integer>> orders = new HashSet<>();
        for (long seed = 1; seed <= 30; seed++) {
            List<Integer> order = new ArrayList<>();
            messages(seed, order);
            assertTrue(order.indexOf(10) < order.indexOf(11), "seed " + seed + ": " + order);
            orders.add(order);
        }
        assertEquals(3, orders.size(), orders::toString);
    }

    /** Two messages of one rank and one of another; notes the order in which they arrive. */
    private static void messages(long seed, List<Integer> order) {
        Simulation simulation = Simulation.of(3, seed);
        simulation.onRank(1, group -> {
            group.sendAsync(HostTensor.of(new int[] {10}), 0, 5);
            group.sendAsync(HostTensor.of(new int[] {11}), 0, 5);
        });
        simulation.onRank(2, group -> group.sendAsync(HostTensor.of(new int[] {20}), 0, 5));
        simulation.onRank(0, group -> {
            for (int from : new int[] {1, 2, 1}) {
                int[] got = new int[1];
                simulation.watch(group.recvAsync(HostTensor.of(got), from, 5)
                        .completion()
                        .thenRun(() -> order.add(got[0])));
            }
        });
        simulation.run();
    }

    @Test
    void aBlockingCallInAScriptIsRefused() {
        AssertionError failure = assertThrows(
                AssertionError.class,
                () -> Simulation.of(2, 3)
                        .onRank(0, group -> group.allReduce(new int[] {4}, ReduceOp.SUM))
                        .run());
        assertInstanceOf(IllegalStateException.class, failure.getCause());
        assertTrue(failure.getMessage().contains("would block"), failure.getMessage());
    }

    @Test
    void aWrongResultNamesItsSeed() {
        int[][] data = {{3}, {4}};
        AssertionError failure = assertThrows(
                AssertionError.class,
                () -> Simulation.of(2, 41)
                        .onEveryRank(group -> group.allReduceAsync(HostTensor.of(data[group.rank()]), ReduceOp.SUM))
                        .check(() -> assertArrayEquals(new int[][] {{7}, {8}}, data))
                        .run());
        assertTrue(failure.getMessage().endsWith("replay it with -Dferro.seed=41"), failure.getMessage());
    }

    @Test
    void aRankThatNeverCallsIsFoundAtTheVirtualDeadline() {
        AssertionError failure = assertThrows(
                AssertionError.class,
                () -> Simulation.of(2, 6, Map.of("ferro.timeout", "1h"))
                        .onRank(0, group -> group.barrierAsync())
                        .run());
        FerroException cause = assertInstanceOf(FerroException.class, failure.getCause());
        assertEquals(Code.TIMED_OUT, cause.code(), cause.getMessage());
        assertEquals(Set.of(1), cause.where().culprits());
    }

    @Test
    void differentCallsAreAMismatchUnderEverySeed() {
        for (long seed = 1; seed <= 50; seed++) {
            long replayed = seed;
            AssertionError failure = assertThrows(
                    AssertionError.class,
                    () -> Simulation.of(3, replayed)
                            .onEveryRank(group -> group.broadcastAsync(HostTensor.of(new int[3 + group.rank() / 2]), 0))
                            .run());
            FerroException cause = assertInstanceOf(FerroException.class, failure.getCause());
            assertEquals(Code.MISMATCH, cause.code(), () -> "seed " + replayed + ": " + cause.getMessage());
        }
    }

    @Test
    void aFailureInAChainIsFoundIfTheStageIsWatched() {
        Simulation simulation = Simulation.of(1, 9);
        simulation.onRank(
                0,
                group -> simulation.watch(group.barrierAsync().completion().thenRun(() -> {
                    throw new IllegalStateException("the chain broke");
                })));
        AssertionError failure = assertThrows(AssertionError.class, simulation::run);
        assertTrue(failure.getMessage().contains("the chain broke"), failure.getMessage());
    }

    @Test
    void theSeedSettingReplaysOneSeed() {
        assertArrayEquals(
                new long[] {1, 2, 3},
                Simulation.seeds(3, SystemContext.of(Map.of())).toArray());
        SystemContext replay = SystemContext.of(Map.of("ferro.seed", "-77"));
        assertArrayEquals(new long[] {-77}, Simulation.seeds(3, replay).toArray());
    }

    @Test
    void aSimulationRunsOnlyOnce() {
        Simulation simulation = Simulation.of(1, 2);
        simulation.run();
        assertThrows(IllegalStateException.class, simulation::run);
        assertThrows(IllegalStateException.class, () -> simulation.onRank(0, group -> {}));
        assertNotEquals(
                0,
                Simulation.of(1, 2)
                        .onRank(0, group -> group.barrierAsync())
                        .run()
                        .steps());
    }
}
