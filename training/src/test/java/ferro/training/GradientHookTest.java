package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class GradientHookTest {
    private static final int LENGTH = 1003;
    private static final List<Parameter> PARAMETERS =
            List.of(Parameter.of("w", DataType.FLOAT32, LENGTH), Parameter.of("v", DataType.FLOAT32, 50));

    static Stream<Arguments> compressions() {
        return Ranks.everywhere()
                .flatMap(where -> Stream.of(DataType.BFLOAT16, DataType.FLOAT16)
                        .map(type -> Arguments.of(where[0], where[1], type)));
    }

    @ParameterizedTest
    @MethodSource("compressions")
    void compressionRoundsEachGradientOnceAndAveragesTheHalves(Medium medium, int worldSize, DataType type) {
        GradientHook hook = type == DataType.BFLOAT16 ? GradientHook.bf16() : GradientHook.f16();
        Ranks.each(medium, worldSize, group -> {
            try (GradientBuckets full = build(group, hook, false);
                    GradientBuckets parts = build(group, hook, true)) {
                for (int step = 0; step < 3; step++) {
                    float[] expected =
                            averageOfHalves(group, type, full.bucket(0).elementCount(), step);
                    for (GradientBuckets buckets : List.of(full, parts)) {
                        for (int parameter = 0; parameter < 2; parameter++) {
                            Gradients.fill(
                                    buckets.gradient(parameter), parameter, group.rank(), step, Gradients::random);
                            buckets.ready(parameter);
                        }
                        buckets.finish();
                    }
                    float[] found = new float[expected.length];
                    full.bucket(0).copyTo(0, found, 0, found.length);
                    assertArrayEquals(expected, found);
                    assertArrayEquals(Gradients.values(full.ownPart(0)), Gradients.values(parts.ownPart(0)));
                }
            }
        });
    }

    /** Does by plain calls what the hook does: parameter 1 lies in front, both in one bucket. */
    private static float[] averageOfHalves(ProcessGroup group, DataType type, long length, int step) {
        HostTensor floats = HostTensor.of(new float[(int) length]);
        Gradients.fill(floats.slice(0, 50), 1, group.rank(), step, Gradients::random);
        Gradients.fill(floats.slice(50, LENGTH), 0, group.rank(), step, Gradients::random);
        HostTensor halves = HostTensor.allocate(type, length);
        for (int index = 0; index < length; index++) {
            halves.setShort(index, HalfFloats.narrow(type, floats.getFloat(index)));
        }
        group.allReduce(halves, ReduceOp.AVG);
        float[] average = new float[(int) length];
        for (int index = 0; index < length; index++) {
            average[index] = HalfFloats.widen(type, halves.getShort(index));
        }
        return average;
    }

    @Test
    void aUsersHookMaySendAnything() {
        Ranks.each(Medium.SHM, 3, group -> {
            try (GradientBuckets buckets = build(group, Tripled::new, false)) {
                for (int step = 0; step < 2; step++) {
                    Gradients.fill(buckets.gradient(0), 0, group.rank(), step, (p, e, rank, s) -> rank + 1 + s);
                    Gradients.fill(buckets.gradient(1), 1, group.rank(), step, (p, e, rank, s) -> rank + 3 + s);
                    buckets.ready(0);
                    buckets.ready(1);
                    buckets.finish();
                    assertEquals(3 * (2 + step), buckets.gradient(0).getFloat(LENGTH - 1));
                    assertEquals(3 * (4 + step), buckets.gradient(1).getFloat(0));
                }
            }
        });
    }

    /** Sends each bucket in two calls, and triples it. */
    private static final class Tripled implements GradientHook.Exchange {
        private final GradientHook.SentBucket target;

        Tripled(GradientHook.SentBucket target) {
            this.target = target;
        }

        @Override
        public Work start(int contributors) {
            assertEquals(target.group().worldSize(), contributors);
            HostTensor all = target.gradients();
            long half = all.elementCount() / 2;
            return Work.all(List.of(
                    target.group().allReduceAsync(all.slice(0, half), ReduceOp.AVG),
                    target.group().allReduceAsync(all.slice(half, all.elementCount() - half), ReduceOp.AVG)));
        }

        @Override
        public void finish(int contributors) {
            for (long index = 0; index < target.gradients().elementCount(); index++) {
                target.gradients().setFloat(index, 3 * target.gradients().getFloat(index));
            }
        }
    }

    @Test
    void compressionOfF64GradientsIsRefused() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group -> GradientBuckets.builder(group)
                    .parameters(List.of(Parameter.of("w", DataType.FLOAT64, 3)))
                    .hook(GradientHook.f16())
                    .build());
            failures.forEach(failure -> assertEquals(
                    "bucket 0 has gradients of f64, and only gradients of f32 can be sent as f16: use GradientHook.average()",
                    assertInstanceOf(IllegalArgumentException.class, failure).getMessage()));
        }
    }

    private static GradientBuckets build(ProcessGroup group, GradientHook hook, boolean sharded) {
        return GradientBuckets.builder(group)
                .parameters(PARAMETERS)
                .hook(hook)
                .sharded(sharded)
                .build();
    }
}
