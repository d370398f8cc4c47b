package ferro.training;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class JoinTest {
    @ParameterizedTest
    @MethodSource("ferro.harness.Ranks#everywhere")
    void averagesAreThoseOfTheRanksWithData(Medium medium, int worldSize) {
        Gradients.each(medium, worldSize, (group, buckets) -> {
            Random order = new Random(group.rank());
            for (int epoch = 0; epoch < 2; epoch++) {
                int steps = 0;
                Join<Integer> join = Join.over(buckets, batches(3 + group.rank()));
                while (join.next()) {
                    List<Integer> withData = withData(steps, worldSize);
                    assertEquals(withData.size(), join.contributors());
                    assertEquals(withData.contains(group.rank()), join.hasBatch());
                    join.withBatch(batch -> Gradients.compute(buckets, batch, Gradients::exact, order));
                    buckets.finish();
                    Gradients.assertAverages(buckets, steps, withData);
                    steps++;
                }
                assertEquals(3 + worldSize - 1, steps);
                assertFalse(join.next());
            }
            assertAllHaveData(buckets, group);
        });
    }

    private static void assertAllHaveData(GradientBuckets buckets, ProcessGroup group) {
        Gradients.compute(buckets, 9, Gradients::exact, new Random());
        buckets.finish();
        List<Integer> all = IntStream.range(0, group.worldSize()).boxed().toList();
        assertArrayEquals(Gradients.averages(0, 9, all), Gradients.values(buckets.gradient(0)));
    }

    private static List<Integer> withData(int step, int worldSize) {
        return IntStream.range(0, worldSize)
                .filter(rank -> step < 3 + rank)
                .boxed()
                .toList();
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("ferro.harness.Ranks#everywhere")
    void aShardedBucketWithUnevenDataHasTheBitsOfTheFullOne(Medium medium, int worldSize) {
        Ranks.each(medium, worldSize, group -> {
            List<List<double[]>> parts = new ArrayList<>();
            for (boolean sharded : new boolean[] {false, true}) {
                List<double[]> ofSteps = new ArrayList<>();
                parts.add(ofSteps);
                try (GradientBuckets buckets =
                        Gradients.buckets(group).sharded(sharded).build()) {
                    Join<Integer> join = Join.over(buckets, batches(1 + (group.rank() + 1) % worldSize));
                    while (join.next()) {
                        join.withBatch(batch ->
                                Gradients.compute(buckets, batch, Gradients::random, new Random(group.rank())));
                        buckets.finish();
                        for (int bucket = 0; bucket < buckets.layout().buckets().size(); bucket++) {
                            ofSteps.add(Gradients.values(buckets.ownPart(bucket)));
                        }
                    }
                }
            }
            assertEquals(parts.get(0).size(), parts.get(1).size());
            for (int index = 0; index < parts.get(0).size(); index++) {
                assertArrayEquals(parts.get(0).get(index), parts.get(1).get(index));
            }
        });
    }

    @Test
    void aCompressedAverageIsThatOfTheRanksWithData() {
        Ranks.each(Medium.TCP, 3, group -> {
            List<Parameter> one = List.of(Parameter.of("w", DataType.FLOAT32, 5));
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                    .parameters(one)
                    .hook(GradientHook.bf16())
                    .build()) {
                Join<Integer> join = Join.over(buckets, batches(group.rank()));
                List<Float> averages = new ArrayList<>();
                while (join.next()) {
                    join.withBatch(batch -> {
                        buckets.gradient(0).setFloat(0, 4 * group.rank());
                        buckets.ready(0);
                    });
                    buckets.finish();
                    averages.add(buckets.gradient(0).getFloat(0));
                }
                assertEquals(List.of(6f, 8f), averages);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void replicasWithUnevenDataStayEqual(Medium medium) {
        List<double[]> replicas = Ranks.run(medium, 4, group -> {
            double[] weights = new double[(int) Gradients.PARAMETERS.get(2).elementCount()];
            try (GradientBuckets buckets = Gradients.buckets(group).build()) {
                Join<Integer> join = Join.over(buckets, batches(new int[] {2, 7, 1, 4}[group.rank()]));
                while (join.next()) {
                    join.withBatch(batch -> Gradients.compute(buckets, batch, Gradients::random, new Random()));
                    buckets.finish();
                    double[] average = Gradients.values(buckets.gradient(2));
                    IntStream.range(0, weights.length).forEach(index -> weights[index] -= 0.1 * average[index]);
                }
            }
            return weights;
        });

        replicas.forEach(replica -> assertArrayEquals(replicas.get(0), replica));
        assertTrue(replicas.get(0)[1] != 0, () -> "" + replicas.get(0)[1]);
    }

    @ParameterizedTest
    @EnumSource
    void aRankWithoutDataMakesTheRegisteredCalls(Medium medium) {
        List<List<Float>> seen = Ranks.run(medium, 3, group -> {
            List<Float> sums = new ArrayList<>();
            try (GradientBuckets buckets = Gradients.buckets(group).build()) {
                Join<Integer> join = Join.over(buckets, batches(1 + 2 * group.rank()))
                        .shadow(() -> sum(group, 0))
                        .shadow(group::barrier);
                while (join.next()) {
                    join.withBatch(batch -> {
                        sums.add(sum(group, 1 + group.rank()));
                        group.barrier();
                        Gradients.compute(buckets, batch, Gradients::exact, new Random());
                    });
                    buckets.finish();
                    // all ranks make it, those that have run out too
                    assertEquals(6, sum(group, 1 + group.rank()));
                }
            }
            return sums;
        });

        assertEquals(List.of(List.of(6f), List.of(6f, 5f, 5f), List.of(6f, 5f, 5f, 3f, 3f)), seen);
    }

    private static float sum(ProcessGroup group, float value) {
        float[] values = {value};
        group.allReduce(values, ReduceOp.SUM);
        return values[0];
    }

    @ParameterizedTest
    @EnumSource
    void anUnregisteredCallIsAMismatchThatNamesTheRankWithoutData(Medium medium) {
        List<Throwable> failures = failures(medium, group -> batches(1 + group.rank() % 2), (group, buckets) -> {
            Gradients.compute(buckets, 0, Gradients::exact, new Random());
            sum(group, 1);
        });

        for (Throwable failure : failures) {
            assertFailed(Code.MISMATCH, failure, "ranks 0, 2 have run out of batches (Join.shadow)");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anExceptionInABatchFailsTheStepOnAllRanks(Medium medium) {
        List<Throwable> failures = failures(medium, group -> batches(1 + group.rank() % 2), (group, buckets) -> {
            if (buckets.stepNumber() == 2) {
                throw new IllegalStateException("planted");
            }
            Gradients.compute(buckets, 0, Gradients::exact, new Random());
        });

        assertEquals("planted", failures.get(1).getMessage());
        for (int rank : new int[] {0, 2}) {
            assertFailed(Code.ABORTED, failures.get(rank), "planted");
        }
    }

    @ParameterizedTest
    @EnumSource
    void unevenInputsAreAnErrorOnAllRanksByOption(Medium medium) {
        Gradients.each(medium, 3, (group, buckets) -> {
            assertEquals(2, steps(Join.over(buckets, batches(2)).failOnUneven(), buckets));

            Join<Integer> uneven =
                    Join.over(buckets, batches(group.rank() == 1 ? 2 : 4)).failOnUneven();
            String message = assertThrows(IllegalStateException.class, () -> steps(uneven, buckets))
                    .getMessage();
            assertEquals(
                    "join, rank " + group.rank()
                            + " of 3, step 5: rank 1 has run out of batches, but failOnUneven() requires"
                            + " equally many on all ranks: drop or repeat batches, or remove failOnUneven() to average over"
                            + " the ranks that have a batch",
                    message);
            assertFalse(uneven.next());
            // what is there goes on
            assertEquals(1, steps(Join.over(buckets, batches(1)), buckets));
            assertAllHaveData(buckets, group);
        });
    }

    @Test
    void thereIsNoStepIfNoRankHasABatch() {
        Gradients.each(Medium.SHM, 3, (group, buckets) -> {
            assertEquals(0, steps(Join.over(buckets, batches(0)), buckets));
            assertEquals(1, steps(Join.over(buckets, batches(group.rank() == 2 ? 1 : 0)), buckets));
        });
    }

    @Test
    void aLoopThatEndsEarlierClosesItsJoin() {
        Gradients.each(Medium.TCP, 2, (group, buckets) -> {
            try (Join<Integer> join = Join.over(buckets, batches(1 + 5 * group.rank()))) {
                for (int step = 0; step < 3 && join.next(); step++) {
                    join.withBatch(batch -> Gradients.compute(buckets, 0, Gradients::exact, new Random()));
                    buckets.finish();
                }
            }
            assertAllHaveData(buckets, group);
        });
    }

    @Test
    void gradientsThatAreNeverReadyAreRefusedAgainAfterAJoin() {
        Gradients.each(Medium.SIMULATED, 2, (group, buckets) -> {
            assertEquals(2, steps(Join.over(buckets, batches(1 + group.rank())), buckets));

            assertSays(assertThrows(IllegalStateException.class, buckets::finish), "7 of 7 gradients were never ready");
        });
    }

    @Test
    void stepsOfOneBatchMayAccumulateSeveralPasses() {
        Gradients.each(Medium.SHM, 2, (group, buckets) -> {
            Join<Integer> join = Join.over(buckets, batches(1 + group.rank()));
            int steps = 0;
            while (join.next()) {
                join.withBatch(batch -> {
                    buckets.accumulate(true);
                    buckets.ready(0);
                    buckets.finish();
                    buckets.accumulate(false);
                    Gradients.compute(buckets, batch, Gradients::exact, new Random());
                });
                buckets.finish();
                steps++;
            }
            assertEquals(2, steps);
        });
    }

    @Test
    void joinCallsInTheWrongOrderAreRefused() {
        Gradients.each(Medium.SIMULATED, 1, (group, buckets) -> {
            Join<Integer> join = Join.over(buckets, batches(3));
            assertRefused(
                    "join, rank 0 of 1, step 1: the step has not begun: call next() before withBatch",
                    () -> join.withBatch(batch -> {}));
            assertTrue(join.next());
            join.withBatch(batch -> Gradients.compute(buckets, 0, Gradients::exact, new Random()));
            assertRefused(
                    "join, rank 0 of 1, step 1: withBatch was already called: call next() before withBatch",
                    () -> join.withBatch(batch -> {}));
            assertRefused(
                    "join, rank 0 of 1, step 1: next() was called before this step has ended: call finish() of the"
                            + " buckets in every step",
                    join::next);
        });
    }

    private static void assertRefused(String text, Runnable call) {
        assertEquals(text, assertThrows(IllegalStateException.class, call::run).getMessage());
    }

    private static int steps(Join<Integer> join, GradientBuckets buckets) {
        int steps = 0;
        while (join.next()) {
            join.withBatch(batch -> Gradients.compute(buckets, batch, Gradients::exact, new Random()));
            buckets.finish();
            steps++;
        }
        return steps;
    }

    private static List<Throwable> failures(
            Medium medium,
            Function<ProcessGroup, Iterator<Integer>> batches,
            BiConsumer<ProcessGroup, GradientBuckets> computing) {
        try (Ranks ranks = Ranks.over(medium, 3)) {
            return ranks.failures(group -> {
                try (GradientBuckets buckets = Gradients.buckets(group).build()) {
                    Join<Integer> join = Join.over(buckets, batches.apply(group));
                    while (join.next()) {
                        join.withBatch(batch -> computing.accept(group, buckets));
                        buckets.finish();
                    }
                }
            });
        }
    }

    /** Numbers from 0 on. */
    private static Iterator<Integer> batches(int count) {
        return IntStream.range(0, count).iterator();
    }

    @Test
    void aFailingSourceOfBatchesFailsTheStepOnAllRanks() {
        Function<ProcessGroup, Iterator<Integer>> failing = group -> IntStream.range(0, 5)
                .peek(batch -> {
                    if (batch == 2 && group.rank() == 1) {
                        throw new IllegalStateException("batch 2 cannot be read");
                    }
                })
                .iterator();
        List<Throwable> failures = failures(
                Medium.SIMULATED,
                failing,
                (group, buckets) -> Gradients.compute(buckets, 0, Gradients::exact, new Random()));

        assertEquals("batch 2 cannot be read", failures.get(1).getMessage());
        for (int rank : new int[] {0, 2}) {
            assertTrue(failures.get(rank).getMessage().contains("batch 2 cannot be read"), failures::toString);
        }
    }
}
