package ferro.integration;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reductions by a user's code: over memory of one JVM, memory that processes share (near), and sockets (far). */
@Tag("long")
@Timeout(60)
class UserReductionsTest {
    /** One element, some, more than the block of a kernel, and more than a segment of 512 KiB; none of them round. */
    private static final int[] LENGTHS = {1, 7, 1_031, 150_001};

    /** After how many places what a rank holds repeats: eleven sizes, two signs. */
    private static final int PERIOD = 22;

    private static final Map<String, ReduceOp> FORMS = Map.of(
            "elements",
            ReduceOp.ofFloats("largest", (a, b) -> larger(a, b)),
            "spans",
            ReduceOp.of("largest", DataType.FLOAT32, float[].class, (into, received, count) -> {
                for (int i = 0; i < count; i++) {
                    into[i] = larger(into[i], received[i]);
                }
            }),
            "tensors",
            ReduceOp.of("largest", (into, received) -> {
                for (int i = 0; i < into.elementCount(); i++) {
                    into.setFloat(i, larger(into.getFloat(i), received.getFloat(i)));
                }
            }));

    /** Commutative to the last bit, which {@code 0.1f * a * b} would not be; but what comes out depends on which partial results meet. */
    private static final ReduceOp MEAN_OF_TWO = ReduceOp.ofFloats("mean of two", (a, b) -> (a + b) / 2 + a * b * 0.1f);

    private static float larger(float a, float b) {
        if (Math.abs(a) == Math.abs(b)) {
            return Math.max(a, b);
        }
        return Math.abs(a) > Math.abs(b) ? a : b;
    }

    private static Stream<String> media() {
        return Stream.of("simulated", "near", "far");
    }

    private static Stream<Arguments> formsOverMedia() {
        return media().flatMap(medium -> FORMS.keySet().stream().sorted().map(form -> Arguments.of(form, medium)));
    }

    @ParameterizedTest(name = "by {0} over {1}")
    @MethodSource("formsOverMedia")
    void elementsAreCombinedInArraysDirectBuffersAndAllocatedMemoryOfEveryLength(String form, String medium) {
        ReduceOp op = FORMS.get(form);
        for (int worldSize : new int[] {2, 3, 5}) {
            well(medium, worldSize, group -> {
                for (int length : LENGTHS) {
                    HostTensor array = HostTensor.of(DataType.FLOAT32, new float[length + 3], 2, length);
                    HostTensor direct =
                            HostTensor.allocate(DataType.FLOAT32, length + 3).slice(1, length);
                    HostTensor given = group.allocate(DataType.FLOAT32, length).tensor();
                    for (HostTensor mine :
                            new HostTensor[] {array, direct, given, group.rank() == 1 ? array : direct}) {
                        reduces(group, mine, op);
                    }
                }
            });
        }
    }

    /** All-reduce, reduce and reduce-scatter of what rank r holds at i: a value and a sign that both depend on r and i. */
    private static void reduces(ProcessGroup group, HostTensor data, ReduceOp op) {
        int length = (int) data.elementCount();
        int worldSize = group.worldSize();
        float[] own = repeated(length, i -> element(group.rank(), i));
        float[] need = repeated(length, i -> largest(worldSize, i));
        fill(data, own);
        group.allReduce(data, op);
        holds(need, data);
        fill(data, own);
        group.reduce(data, op, worldSize - 1);
        if (group.rank() == worldSize - 1) {
            holds(need, data);
        }
        int part = length / worldSize;
        fill(data, own);
        HostTensor out = HostTensor.allocate(DataType.FLOAT32, part);
        group.reduceScatter(data.slice(0, (long) part * worldSize), out, op);
        holds(Arrays.copyOfRange(need, group.rank() * part, (group.rank() + 1) * part), out);
    }

    private static void fill(HostTensor data, float[] elements) {
        if (data.memory() instanceof float[] array) {
            System.arraycopy(elements, 0, array, (int) data.offset(), elements.length);
        } else {
            data.buffer().asFloatBuffer().put(elements);
        }
    }

    private static void holds(float[] need, HostTensor data) {
        float[] found = new float[need.length];
        if (data.memory() instanceof float[] array) {
            System.arraycopy(array, (int) data.offset(), found, 0, found.length);
        } else {
            data.buffer().asFloatBuffer().get(found);
        }
        int wrong = Arrays.mismatch(need, found);
        if (wrong >= 0) {
            assertEquals(need[wrong], found[wrong], "element " + wrong + " of " + found.length);
        }
    }

    /** What repeats after a period, for as many elements; it is worked out for one period. */
    private static float[] repeated(int length, IntToDoubleFunction byIndex) {
        float[] all = new float[length];
        for (int i = 0; i < length; i++) {
            all[i] = i < PERIOD ? (float) byIndex.applyAsDouble(i) : all[i - PERIOD];
        }
        return all;
    }

    private static float element(int rank, int i) {
        float magnitude = 1 + (7 * rank + 3 * i) % 11;
        return (rank + i) % 2 == 0 ? magnitude : -magnitude;
    }

    private static float largest(int worldSize, int i) {
        float largest = element(0, i);
        for (int rank = 1; rank < worldSize; rank++) {
            largest = larger(largest, element(rank, i));
        }
        return largest;
    }

    @ParameterizedTest
    @MethodSource("media")
    void codeThatIsNotAssociativeStillLeavesTheSameBitsOnAllRanksAndFromRunToRun(String medium) {
        for (int worldSize : new int[] {2, 3, 5}) {
            Map<String, Integer> hashes = new ConcurrentHashMap<>();
            for (int run = 0; run < 2; run++) {
                well(medium, worldSize, group -> {
                    for (int length : LENGTHS) {
                        float[] data = new float[length];
                        for (int i = 0; i < length; i++) {
                            data[i] = element(group.rank(), i) / 13;
                        }
                        group.allReduce(data, MEAN_OF_TWO);
                        int hash = Arrays.hashCode(data);
                        Integer other = hashes.putIfAbsent("length " + length, hash);
                        assertTrue(other == null || other == hash, "rank " + group.rank() + " of " + worldSize);
                    }
                });
            }
        }
    }

    @ParameterizedTest
    @MethodSource("media")
    void anotherTypeIsRefusedAndTheGroupContinues(String medium) {
        ReduceOp op = FORMS.get("elements");
        well(medium, 2, group -> {
            int[] ints = {3, 4};
            for (Runnable call : new Runnable[] {
                () -> group.allReduce(ints, op),
                () -> group.reduce(HostTensor.of(ints), op, 0),
                () -> group.reduceScatter(HostTensor.of(ints), HostTensor.of(new int[1]), op),
                () -> group.allReduceAsync(HostTensor.of(ints), op)
            }) {
                assertRefused(
                        IllegalArgumentException.class,
                        call::run,
                        "reduction user:largest accepts only f32, found elements of i32: use a tensor of f32,"
                                + " or a reduction for i32");
            }
            assertEquals(4, ints[1]);
            float[] sum = {group.rank() + 2};
            group.allReduce(sum, ReduceOp.SUM);
            assertEquals(5, sum[0]);
        });
    }

    @ParameterizedTest(name = "by {0} over {1}")
    @MethodSource("formsOverMedia")
    void anExceptionOfTheUsersOpFailsAllRanksWithOpAndCause(String form, String medium) {
        // both of two ranks combine, in every plan; the other rank may have its result already, and then its next call
        // fails
        for (int length : new int[] {3, 150_001}) {
            try (Ranks ranks = ranks(medium, 2)) {
                ranks.ends(group -> {
                            group.allReduce(new float[length], throwing(form, group.rank() == 1));
                            group.barrier();
                        })
                        .forEach(UserReductionsTest::namesRank1);
            }
        }
    }

    private static ReduceOp throwing(String form, boolean throwsIt) {
        return switch (form) {
            case "elements" -> ReduceOp.ofFloats("brittle", (a, b) -> broken(throwsIt));
            case "spans" ->
                ReduceOp.of("brittle", DataType.FLOAT32, float[].class, (into, received, count) -> broken(throwsIt));
            default ->
                ReduceOp.of("brittle", (into, received) -> {
                    broken(throwsIt);
                });
        };
    }

    private static float broken(boolean throwsIt) {
        if (throwsIt) {
            throw new ArithmeticException("no logarithm of -3");
        }
        return 1;
    }

    private static void namesRank1(Ended ended) {
        FerroException failure = ended.failure();
        assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
        assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage());
        String text = "the code of reduction user:brittle threw on elements of f32: java.lang.ArithmeticException: no"
                + " logarithm of -3";
        assertTrue(failure.getMessage().contains(text), failure.getMessage());
    }

    @ParameterizedTest
    @MethodSource("media")
    void aCallOfTheGroupFromAUsersOpIsRefusedAndFailsTheGroup(String medium) {
        Map<String, Consumer<ProcessGroup>> calls = Map.of(
                "allReduce",
                group -> group.allReduce(new float[1], ReduceOp.SUM),
                "barrier",
                ProcessGroup::barrier,
                "send to rank 0",
                group -> group.send(new float[1], 0, 0),
                "newGroup",
                group -> group.newGroup(0, 1),
                "allocate",
                group -> group.allocate(DataType.FLOAT32, 8),
                "close",
                ProcessGroup::close);
        calls.forEach((what, call) -> {
            for (int length : new int[] {1, 150_001}) {
                try (Ranks ranks = ranks(medium, 2)) {
                    for (Ended ended : ranks.ends(group -> {
                        group.allReduce(new float[length], calling(group, call));
                        group.barrier();
                    })) {
                        String text = ended.failure().getMessage();
                        assertEquals(Code.ABORTED, ended.failure().code(), text);
                        assertTrue(
                                text.contains(what) && text.contains("is called from inside a user-defined reduction"),
                                text);
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"near", "far"})
    void waitingInAUsersOpForItsOwnOperationIsRefused(String medium) {
        try (Ranks ranks = ranks(medium, 2)) {
            ranks.ends(group -> {
                        Work[] work = new Work[1];
                        ReduceOp op = calling(group, any -> {
                            while (work[0] == null) {
                                Thread.onSpinWait();
                            }
                            work[0].await();
                        });
                        work[0] = group.allReduceAsync(HostTensor.of(new float[4]), op);
                        work[0].await();
                    })
                    .forEach(ended -> {
                        String text = ended.failure().getMessage();
                        assertTrue(text.contains("is called from inside a user-defined reduction"), text);
                    });
        }
    }

    private static ReduceOp calling(ProcessGroup group, Consumer<ProcessGroup> call) {
        return ReduceOp.ofFloats("calling", (a, b) -> {
            call.accept(group);
            return a;
        });
    }

    private static void well(String medium, int worldSize, Consumer<ProcessGroup> code) {
        try (Ranks ranks = ranks(medium, worldSize)) {
            ranks.each(code::accept);
        }
    }

    private static Ranks ranks(String medium, int worldSize) {
        return switch (medium) {
            case "simulated" -> Ranks.over(Medium.SIMULATED, worldSize);
            case "near" -> Ranks.over("shm", worldSize);
            default ->
                Ranks.onHosts(
                        Stream.of("a", "b", "c", "d", "e").limit(worldSize).toArray(String[]::new));
        };
    }
}
