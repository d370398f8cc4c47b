package ferro.training;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class GradientBucketsFailureTest {
    private static final List<Parameter> THREE = List.of(
            Parameter.of("a", DataType.FLOAT32, 4),
            Parameter.of("b", DataType.FLOAT32, 3, 5),
            Parameter.of("c", DataType.FLOAT64, 2));

    private static Stream<Arguments> differences() {
        String name = "long".repeat(1000);
        return Stream.of(
                differs(
                        builder -> builder.parameters(with(Parameter.of("b", DataType.FLOAT32, 5, 3))),
                        "on rank 0 parameter 1 is \"b\" f32[3, 5], on rank 2 parameter 1 is \"b\" f32[5, 3]"),
                differs(
                        builder -> builder.parameters(with(Parameter.of("b", DataType.FLOAT64, 3, 5))),
                        "on rank 0 parameter 1 is \"b\" f32[3, 5], on rank 2 parameter 1 is \"b\" f64[3, 5]"),
                differs(
                        builder -> builder.parameters(THREE.subList(0, 2)),
                        "on rank 0 parameter 2 is \"c\" f64[2], on rank 2 there are 2 parameters"),
                differs(
                        builder -> builder.settings(BucketSettings.DEFAULT.withBytes(10, 20)),
                        "on rank 0 the first bucket has 1048576 bytes, the others 1048576, on rank 2 the first bucket has"
                                + " 10 bytes, the others 20"),
                cannotOrder("a", "missing [b, c], unknown []"),
                cannotOrder(name, "missing [a, b, c], unknown [" + name + "]"));
    }

    private static Arguments differs(UnaryOperator<GradientBucketsBuilder> other, String how) {
        return Arguments.of(
                other,
                "ranks build buckets from different parameters or settings: " + how
                        + "; all 3 ranks need the same parameters and settings in the same order");
    }

    private static Arguments cannotOrder(String name, String why) {
        UnaryOperator<GradientBucketsBuilder> other =
                builder -> builder.settings(BucketSettings.DEFAULT.withOrder(name));
        return Arguments.of(
                other,
                "rank 2 of 3 cannot build buckets: the order has 1 names for 3 parameters: " + why + ", repeated []");
    }

    @ParameterizedTest
    @MethodSource("differences")
    void differentSettingsOfARankAreNamedOnAllRanks(UnaryOperator<GradientBucketsBuilder> other, String text) {
        for (Medium medium : Medium.values()) {
            assertRefused(medium, other, text);
        }
    }

    @Test
    void manyParametersWithLongNamesAreCompared() {
        String name = "\u00e4".repeat(3000);
        List<Parameter> many = new ArrayList<>(Collections.nCopies(2000, null));
        many.replaceAll(none -> Parameter.of(name + many.indexOf(none) + Math.random(), DataType.FLOAT32, 1));
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group -> GradientBuckets.builder(group)
                    .parameters(group.rank() == 0 ? many : THREE)
                    .build());
            assertEquals(1, texts(failures).size());
            assertTrue(
                    failures.get(0)
                            .getMessage()
                            .endsWith("all 2 ranks need the same parameters and settings in the same order"),
                    failures.get(0)::getMessage);
        }
    }

    @Test
    void sixteenBitParametersAreRefusedWithTheReason() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group -> GradientBuckets.builder(group)
                    .parameters(List.of(Parameter.of("w", DataType.BFLOAT16, 4)))
                    .build());
            failures.forEach(failure -> {
                assertInstanceOf(IllegalArgumentException.class, failure);
                assertEquals(
                        "parameter \"w\" is bf16, need f32 or f64: a 16-bit float loses updates that are smaller than its"
                                + " last bit; keep parameters in f32, and send half of the bytes with GradientHook.bf16()",
                        failure.getMessage());
            });
        }
    }

    @Test
    void aTooLongBucketIsRefusedByName() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 1)) {
            Throwable failure = ranks.failures(group -> GradientBuckets.builder(group)
                            .parameters(List.of(Parameter.of("vast", DataType.FLOAT32, 1L << 30)))
                            .build())
                    .get(0);
            assertEquals(
                    "the bucket of parameter \"vast\" has 4294967360 bytes, but a buffer holds at most 2147483647: use"
                            + " smaller buckets, or split the parameter",
                    failure.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void unusedGradientsAreNamedAndFailTheStepOnAllRanks(Medium medium) {
        List<Throwable> failures = afterBuild(medium, buckets -> {
            buckets.ready(1);
            if (buckets.group().rank() != 1) {
                buckets.ready(0);
                buckets.ready(2);
            }
            return buckets.finish();
        });

        assertEquals(
                "gradient buckets, rank 1 of 3, step 1: 2 of 3 gradients were never ready: \"a\", \"c\"; if a step may leave"
                        + " parameters unused, build with zerosForUnused()",
                assertInstanceOf(IllegalStateException.class, failures.get(1)).getMessage());
        assertAborted(failures.get(0), "rank 1 of 3, step 1: 2 of 3 gradients were never ready: \"a\", \"c\"");
        assertAborted(failures.get(2), "rank 1 of 3, step 1: 2 of 3 gradients were never ready: \"a\", \"c\"");
    }

    @Test
    void atMostTwentyUnusedGradientsAreNamed() {
        List<Parameter> many = IntStream.range(0, 100)
                .mapToObj(index -> Parameter.of("p" + index, DataType.FLOAT32, 1))
                .toList();
        Ranks.each(Medium.SIMULATED, 1, group -> {
            try (GradientBuckets buckets =
                    GradientBuckets.builder(group).parameters(many).build()) {
                assertSays(
                        assertThrows(IllegalStateException.class, buckets::finish),
                        "100 of 100 gradients were never ready: \"p0\", \"p1\", ",
                        ", \"p19\" and 80 more; ");
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aGradientThatIsReadyTwiceIsNamedAndFailsAllRanks(Medium medium) {
        List<Throwable> failures = afterBuild(medium, buckets -> {
            IntStream.range(0, 3).forEach(buckets::ready);
            if (buckets.group().rank() == 0) {
                buckets.ready(1);
            }
            // another rank may have ended this step before the failure reaches it
            buckets.finish();
            IntStream.range(0, 3).forEach(buckets::ready);
            return buckets.finish();
        });

        assertEquals(
                "gradient buckets, rank 0 of 3, step 1: the gradient of \"b\" is ready a second time: call ready() once per step, or"
                        + " accumulate(true) before all passes but the last",
                assertInstanceOf(IllegalStateException.class, failures.get(0)).getMessage());
        assertAborted(failures.get(1), "the gradient of \"b\" is ready a second time");
        assertAborted(failures.get(2), "the gradient of \"b\" is ready a second time");
    }

    @Test
    void aGradientThatIsReadyAfterFinishIsNamed() {
        List<Throwable> failures = afterBuild(Medium.SIMULATED, buckets -> {
            buckets.ready(1);
            buckets.accumulate(false);
            assertThrows(IllegalStateException.class, () -> buckets.accumulate(true));
            buckets.ready(0);
            buckets.ready(2);
            buckets.await(0);
            assertThrows(IllegalStateException.class, () -> buckets.put(0, HostTensor.of(new float[4])));
            buckets.group().barrier();
            buckets.ready(0);
            return null;
        });

        assertSays(failures.get(0), "\"a\" is ready a second time");
    }

    @ParameterizedTest
    @EnumSource
    void aHookThatThrowsFailsTheStepOnAllRanks(Medium medium) {
        GradientHook broken = target -> new GradientHook.Exchange() {
            @Override
            public Work start(int contributors) {
                if (target.group().rank() == 2) {
                    throw new IllegalArgumentException("planted");
                }
                return target.group().allReduceAsync(target.gradients(), ReduceOp.AVG);
            }

            @Override
            public void finish(int contributors) {}
        };
        List<Throwable> failures;
        try (Ranks ranks = Ranks.over(medium, 3)) {
            failures = ranks.failures(group -> step(GradientBuckets.builder(group)
                    .parameters(THREE)
                    .hook(broken)
                    .build()));
            assertGoesOn(ranks);
        }

        assertEquals("planted", failures.get(2).getMessage());
        assertAborted(failures.get(0), "planted");
        assertAborted(failures.get(1), "planted");
    }

    @ParameterizedTest
    @EnumSource
    void aMissingRankFailsTheStepAtTheDeadline(Medium medium) {
        List<Throwable> failures;
        try (Ranks ranks = Ranks.over(medium, 3, Map.of("ferro.timeout", "1s"))) {
            List<GradientBuckets> built = ranks.all(
                    group -> GradientBuckets.builder(group).parameters(THREE).build());
            failures = ranks.failures(group -> {
                if (group.rank() != 1) {
                    step(built.get(group.rank()));
                }
            });
        }

        for (int rank : new int[] {0, 2}) {
            FerroException failure = assertFailed(Code.TIMED_OUT, failures.get(rank));
            assertEquals(Set.of(1), failure.where().culprits());
        }
    }

    @ParameterizedTest
    @EnumSource
    void anExceptionInAStepFailsAllRanks(Medium medium) {
        List<Throwable> failures = afterBuild(medium, buckets -> {
            if (buckets.group().rank() == 1) {
                buckets.ready(2);
                throw new IllegalStateException("planted");
            }
            return step(buckets);
        });

        assertEquals("planted", failures.get(1).getMessage());
        String message =
                "rank 1 of 3, step 1: buckets are closed before the step has ended, with 1 of 3 gradients ready";
        assertAborted(failures.get(0), message);
        assertAborted(failures.get(2), message);
    }

    @Test
    void anAbortOfTheGroupFailsTheStep() {
        List<Throwable> failures = afterBuild(Medium.TCP, buckets -> {
            if (buckets.group().rank() == 0) {
                buckets.group().abort(new IllegalStateException("enough"));
            }
            return step(buckets);
        });

        failures.forEach(failure -> assertAborted(failure, "enough"));
    }

    @Test
    void aGradientOfWrongLengthTypeOrOrderIsRefusedByName() {
        List<Throwable> failures = afterBuild(Medium.SIMULATED, buckets -> {
            assertEquals(
                    "gradient of \"b\": need f32[15], found f32[4]",
                    assertThrows(IllegalArgumentException.class, () -> buckets.put(1, HostTensor.of(new float[4])))
                            .getMessage());
            assertEquals(
                    "gradient of \"c\": need f64[2], found f32[2]",
                    assertThrows(IllegalArgumentException.class, () -> buckets.put(2, HostTensor.of(new float[2])))
                            .getMessage());
            assertEquals(
                    "gradient of \"a\": need 16 bytes in byte order LITTLE_ENDIAN, found 16 in byte order BIG_ENDIAN",
                    assertThrows(IllegalArgumentException.class, () -> buckets.put(0, ByteBuffer.allocate(16)))
                            .getMessage());
            return step(buckets);
        });

        assertEquals(Collections.nCopies(3, null), failures);
    }

    /** Runs something on three ranks that have built buckets, and sees that the group they were built in goes on. */
    private static List<Throwable> afterBuild(Medium medium, Function<GradientBuckets, Object> task) {
        try (Ranks ranks = Ranks.over(medium, 3)) {
            List<Throwable> failures = ranks.failures(group -> {
                try (GradientBuckets buckets =
                        GradientBuckets.builder(group).parameters(THREE).build()) {
                    task.apply(buckets);
                }
            });
            assertGoesOn(ranks);
            return failures;
        }
    }

    private static Object step(GradientBuckets buckets) {
        IntStream.range(0, 3).forEach(buckets::ready);
        return buckets.finish();
    }

    private static void assertGoesOn(Ranks ranks) {
        ranks.each(group -> {
            int[] values = {group.rank()};
            group.allReduce(values, ReduceOp.SUM);
            assertArrayEquals(new int[] {3}, values);
        });
    }

    private static void assertAborted(Throwable failure, String text) {
        assertFailed(Code.ABORTED, failure, text);
    }

    /** Builds other buckets on rank 2 than on ranks 0 and 1. All ranks fail to build them, and the group continues. */
    private static void assertRefused(Medium medium, UnaryOperator<GradientBucketsBuilder> other, String text) {
        try (Ranks ranks = Ranks.over(medium, 3)) {
            List<Throwable> failures = ranks.failures(group -> {
                GradientBucketsBuilder same = GradientBuckets.builder(group).parameters(THREE);
                (group.rank() == 2 ? other.apply(same) : same).build();
            });
            failures.forEach(failure -> assertInstanceOf(IllegalArgumentException.class, failure));
            failures.forEach(failure -> assertEquals(text, failure.getMessage()));
            assertGoesOn(ranks);
        }
    }

    private static HashSet<String> texts(List<Throwable> failures) {
        return new HashSet<>(failures.stream().map(Throwable::getMessage).toList());
    }

    private static List<Parameter> with(Parameter second) {
        return List.of(THREE.get(0), second, THREE.get(2));
    }
}
