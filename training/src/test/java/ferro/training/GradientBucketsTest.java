package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class GradientBucketsTest {
    private static final int STEPS = 4;
    /** With gradients of several times the bytes that are cleared at once. */
    private static final List<Parameter> SOME_UNUSED = Stream.concat(
                    Gradients.PARAMETERS.stream(),
                    Stream.of(
                            Parameter.of("wide", DataType.FLOAT32, 5003), Parameter.of("head", DataType.FLOAT64, 2001)))
            .toList();

    @ParameterizedTest
    @MethodSource("ferro.harness.Ranks#everywhere")
    void gradientsAreAveragedInAnyOrderOfReadiness(Medium medium, int worldSize) {
        List<Integer> ranks = IntStream.range(0, worldSize).boxed().toList();
        Gradients.each(medium, worldSize, (group, buckets) -> {
            assertTrue(buckets.layout().buckets().size() > 3, buckets.layout()::toString);
            Random order = new Random(group.rank());
            for (int step = 0; step < STEPS; step++) {
                Gradients.compute(buckets, step, Gradients::exact, order);
                StepTimes times = buckets.finish();
                Gradients.assertAverages(buckets, step, ranks);
                assertTrue(times.waited().toNanos() > 0, times::toString);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("ferro.harness.Ranks#everywhere")
    void bucketsHaveTheBitsOfAllReduceAndShardsThoseOfTheirPart(Medium medium, int worldSize) {
        Ranks.each(medium, worldSize, group -> {
            try (GradientBuckets full = build(group, false);
                    GradientBuckets parts = build(group, true)) {
                for (int step = 0; step < STEPS; step++) {
                    Gradients.compute(full, step, Gradients::random, new Random(group.rank()));
                    List<float[]> expected = averages(group, full);
                    full.finish();
                    Gradients.compute(parts, step, Gradients::random, new Random(-group.rank()));
                    parts.finish();
                    for (int bucket = 0; bucket < expected.size(); bucket++) {
                        if (expected.get(bucket) != null) {
                            assertArrayEquals(expected.get(bucket), floats(full.bucket(bucket)));
                        }
                        assertArrayEquals(
                                Gradients.values(full.ownPart(bucket)), Gradients.values(parts.ownPart(bucket)));
                    }
                }
            }
        });
    }

    /** Averages buckets of f32 by a plain call on arrays. */
    private static List<float[]> averages(ProcessGroup group, GradientBuckets buckets) {
        List<float[]> averages = new ArrayList<>();
        for (int bucket = 0; bucket < buckets.layout().buckets().size(); bucket++) {
            boolean isFloat = buckets.bucket(bucket).dataType() == DataType.FLOAT32;
            float[] values = isFloat ? new float[(int) buckets.bucket(bucket).elementCount()] : null;
            averages.add(values);
            for (int member : isFloat ? buckets.layout().buckets().get(bucket).members() : List.<Integer>of()) {
                HostTensor into = HostTensor.of(values)
                        .slice(
                                buckets.layout().offsetOf(member),
                                buckets.gradient(member).elementCount());
                Gradients.fill(into, member, group.rank(), (int) buckets.stepNumber() - 1, Gradients::random);
            }
            if (isFloat) {
                group.allReduce(values, ReduceOp.AVG);
            }
        }
        return averages;
    }

    private static float[] floats(HostTensor tensor) {
        float[] values = new float[(int) tensor.elementCount()];
        tensor.copyTo(0, values, 0, values.length);
        return values;
    }

    @Test
    void theOwnPartBeginsAtTheOffsetOfTheRank() {
        Ranks.each(Medium.SHM, 3, group -> {
            try (GradientBuckets buckets = build(group, true)) {
                long part = buckets.bucket(1).elementCount() / 3;
                assertEquals(part, buckets.ownPart(1).elementCount());
                buckets.bucket(1).setFloat(group.rank() * part, 17);
                assertEquals(17, buckets.ownPart(1).getFloat(0));
                assertSame(buckets.gradient(2), buckets.gradient(2));
                assertEquals(true, buckets.isSharded());
            }
        });
    }

    @Test
    void memoryIsSharedWhereRanksShareAny() {
        Gradients.each(Medium.SHM, 2, (group, buckets) -> {
            assertTrue(buckets.isMemoryShared());
        });
    }

    @Test
    void putCopiesGradientsOfAFramework() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            List<Parameter> parameters =
                    List.of(Parameter.of("a", DataType.FLOAT32, 3), Parameter.of("b", DataType.FLOAT64, 2));
            try (GradientBuckets buckets =
                    GradientBuckets.builder(group).parameters(parameters).build()) {
                ByteBuffer bytes = ByteBuffer.allocate(20).order(ByteOrder.nativeOrder());
                bytes.putFloat(4, 1 + group.rank())
                        .putFloat(8, 5)
                        .putFloat(12, 7)
                        .position(4)
                        .limit(16);
                buckets.put(0, bytes);
                assertEquals(4, bytes.position());
                buckets.put(1, HostTensor.of(new double[] {3, 4 + group.rank()}));
                buckets.ready(0);
                buckets.ready(1);
                buckets.finish();
                assertArrayEquals(new double[] {1.5, 5, 7}, Gradients.values(buckets.gradient(0)));
                assertArrayEquals(new double[] {3, 4.5}, Gradients.values(buckets.gradient(1)));
            }
        });
    }

    @Test
    void threadsMayComputeAtOnce() {
        Gradients.each(Medium.SHM, 2, (group, buckets) -> {
            for (int step = 0; step < 20; step++) {
                int now = step;
                IntStream.range(0, Gradients.PARAMETERS.size()).parallel().forEach(parameter -> {
                    Gradients.fill(buckets.gradient(parameter), parameter, group.rank(), now, Gradients::exact);
                    buckets.ready(parameter);
                });
                buckets.finish();
                assertArrayEquals(Gradients.averages(2, step, List.of(0, 1)), Gradients.values(buckets.gradient(2)));
            }
        });
    }

    @Test
    void accumulatedPassesSendNothingAndCountInTheStep() {
        Gradients.each(Medium.TCP, 2, (group, buckets) -> {
            buckets.accumulate(true);
            for (int pass = 0; pass < 1 + group.rank(); pass++) {
                // not as many on all ranks: were anything sent, it would be a MISMATCH or wrong
                addAll(buckets, pass);
                assertEquals(Duration.ZERO, buckets.finish().waited());
            }
            buckets.accumulate(false);
            addAll(buckets, 2);
            buckets.finish();
            // 1 and 3 on rank 0, 1, 2 and 3 on rank 1
            assertEquals(5, buckets.gradient(0).getFloat(0));
        });
    }

    private static void addAll(GradientBuckets buckets, int pass) {
        for (int parameter = 0; parameter < Gradients.PARAMETERS.size(); parameter++) {
            HostTensor gradient = buckets.gradient(parameter);
            double[] values = Gradients.values(gradient);
            Gradients.fill(gradient, parameter, 0, 0, (p, element, rank, step) -> values[(int) element] + 1 + pass);
            buckets.ready(parameter);
        }
    }

    @Test
    void aGradientOfAnAccumulatedPassIsNotUnused() {
        Gradients.each(Medium.SIMULATED, 2, (group, buckets) -> {
            buckets.accumulate(true);
            buckets.gradient(0).setFloat(0, 8);
            buckets.ready(0);
            buckets.accumulate(false);
            IntStream.range(1, Gradients.PARAMETERS.size()).forEach(buckets::ready);
            buckets.finish();
            assertEquals(8, buckets.gradient(0).getFloat(0));
        });
    }

    @ParameterizedTest
    @EnumSource
    void anOptionMakesUnusedGradientsZero(Medium medium) {
        Ranks.each(medium, 3, group -> {
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                    .parameters(SOME_UNUSED)
                    .settings(Gradients.SETTINGS)
                    .zerosForUnused()
                    .build()) {
                for (int step = 0; step < SOME_UNUSED.size(); step++) {
                    for (int parameter = 0; parameter < SOME_UNUSED.size(); parameter++) {
                        // an unused gradient holds numbers, too, that must not be in the average
                        Gradients.fill(buckets.gradient(parameter), parameter, group.rank(), step, Gradients::exact);
                        if (isUsed(parameter, step, group.rank())) {
                            buckets.ready(parameter);
                        }
                    }
                    buckets.finish();
                    for (int parameter = 0; parameter < SOME_UNUSED.size(); parameter++) {
                        Parameter of = SOME_UNUSED.get(parameter);
                        assertArrayEquals(
                                Gradients.averages(of, parameter, step, users(parameter, step), 3),
                                Gradients.values(buckets.gradient(parameter)));
                    }
                }
                assertCarried(medium, group);
            }
        });
    }

    /** No rank uses the last parameter; each rank leaves each other one out at some step. */
    private static boolean isUsed(int parameter, int step, int rank) {
        int last = SOME_UNUSED.size() - 1;
        return parameter != last && parameter != (step + rank) % last;
    }

    private static List<Integer> users(int parameter, int step) {
        return IntStream.range(0, 3)
                .filter(rank -> isUsed(parameter, step, rank))
                .boxed()
                .toList();
    }

    private static void assertCarried(Medium medium, ProcessGroup group) {
        String report = group.linkReport();
        assertEquals(medium != Medium.TCP, report.equals("all 3 ranks share memory"), report);
        assertEquals(medium == Medium.TCP, report.endsWith(" do not share memory: ferro.links=tcp"), report);
    }

    @Test
    void anOptimizerMayStartWithTheFirstBucket() {
        Gradients.each(Medium.TCP, 2, (group, buckets) -> {
            for (int step = 0; step < 3; step++) {
                Gradients.compute(buckets, step, Gradients::exact, new Random(group.rank()));
                for (int bucket = 0; bucket < buckets.layout().buckets().size(); bucket++) {
                    buckets.await(bucket);
                    int member =
                            buckets.layout().buckets().get(bucket).members().get(0);
                    assertArrayEquals(
                            Gradients.averages(member, step, List.of(0, 1)),
                            Gradients.values(buckets.gradient(member)));
                }
                buckets.finish();
            }
        });
    }

    @Test
    void callsOfTheGroupDoNotWaitForBuckets() {
        Gradients.each(Medium.TCP, 2, (group, buckets) -> {
            if (group.rank() == 0) {
                Gradients.compute(buckets, 0, Gradients::exact, new Random());
            }
            group.barrier();
            if (group.rank() == 1) {
                Gradients.compute(buckets, 0, Gradients::exact, new Random());
            }
            buckets.finish();
        });
    }

    private static GradientBuckets build(ProcessGroup group, boolean sharded) {
        return Gradients.buckets(group).sharded(sharded).build();
    }
}
