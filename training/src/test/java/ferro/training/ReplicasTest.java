package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.agreement.TensorHasher;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ReplicasTest {
    /** Of every kind of memory, some longer than a block that is hashed at once. */
    private static Map<String, HostTensor> tensors(int seed) {
        float[] large = new float[50_001];
        for (int i = 0; i < large.length; i++) {
            large[i] = seed + i * 0.25f;
        }
        HostTensor direct = HostTensor.allocate(DataType.FLOAT64, 3);
        direct.setDouble(2, seed + 0.5);
        Map<String, HostTensor> tensors = new TreeMap<>();
        tensors.put("large", HostTensor.of(large));
        tensors.put("direct", direct);
        tensors.put("part", HostTensor.of(DataType.BFLOAT16, new short[] {9, (short) seed, 3, 4}, 1, 2));
        tensors.put("none", HostTensor.of(new long[0]));
        tensors.put("bytes", HostTensor.of(new byte[] {(byte) seed, 2, 3}));
        return tensors;
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("ferro.harness.Ranks#everywhere")
    void replicasAreEqualAfterABroadcast(Medium medium, int worldSize) {
        List<float[]> copies = Ranks.run(medium, worldSize, group -> {
            Map<String, HostTensor> own = tensors(group.rank() + 1);
            Replicas.of(group).broadcast(List.copyOf(own.values()), worldSize - 1);
            Replicas.of(group).checkEqual(own);
            return (float[]) own.get("large").memory();
        });
        copies.forEach(copy ->
                assertArrayEquals((float[]) tensors(worldSize).get("large").memory(), copy));
    }

    private static Void check(ProcessGroup group, Map<String, HostTensor> tensors) {
        Replicas.of(group).checkEqual(tensors);
        return null;
    }

    /** Returns the messages that the ranks get from a check of their own tensors; the group goes on. */
    private static List<String> messages(Medium medium, List<Map<String, HostTensor>> byRank) {
        try (Ranks ranks = Ranks.over(medium, byRank.size())) {
            List<Throwable> failures = ranks.failures(group -> check(group, byRank.get(group.rank())));
            ranks.each(group -> {
                group.barrier();
            });
            return failures.stream()
                    .map(failure -> assertInstanceOf(IllegalStateException.class, failure)
                            .getMessage()
                            .replaceAll("hash [0-9a-f]+", "hash #"))
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource(Medium.class)
    void differentTensorsAreNamedWithTheirRanks(Medium medium) {
        List<Map<String, HostTensor>> byRank =
                IntStream.range(0, 4).mapToObj(rank -> tensors(1)).toList();
        byRank.get(2).get("direct").setDouble(1, -0.0);
        ((float[]) byRank.get(1).get("large").memory())[50_000]++;
        byRank.get(0).remove("part");
        byRank.get(3).put("bytes", HostTensor.of(new byte[] {1, 2, 3, 0}));

        List<String> messages = messages(medium, byRank);

        assertEquals(1, messages.stream().distinct().count(), messages::toString);
        assertEquals(
                "replicas differ in 4 of 5 tensors: "
                        + "\"bytes\" is i8[3] of hash # on ranks 0, 1, 2, but i8[4] of hash # on rank 3; "
                        + "\"direct\" is f64[3] of hash # on ranks 0, 1, 3, but f64[3] of hash # on rank 2; "
                        + "\"large\" is f32[50001] of hash # on ranks 0, 2, 3, but f32[50001] of hash # on rank 1; "
                        + "\"part\" is bf16[2] of hash # on ranks 1, 2, 3, but missing on rank 0",
                messages.get(0));
    }

    @Test
    void theFirstTenDifferencesAreNamed() {
        Map<String, HostTensor> many = new HashMap<>();
        for (int i = 10; i < 25; i++) {
            many.put("w" + i, HostTensor.of(new int[] {i}));
        }

        String message = messages(Medium.SIMULATED, List.of(many, Map.of())).get(1);

        assertEquals(
                "replicas differ in 15 of 15 tensors: \"w10\" is i32[1] of hash # on rank 0, but missing on rank 1",
                message.substring(0, message.indexOf(';')));
        assertEquals("; and 5 more", message.substring(message.lastIndexOf(';')));
    }

    @Test
    void anEqualCheckCostsOneCall() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            long before = next(group);
            Replicas.of(group).checkEqual(tensors(5));
            assertEquals(before + 2, next(group));
        });
    }

    private static long next(ProcessGroup group) {
        var barrier = group.barrierAsync();
        barrier.await();
        return barrier.sequence();
    }

    @Test
    void hashesDependOnlyOnTheBits() {
        HostTensor direct = HostTensor.allocate(DataType.FLOAT32, 20_003);
        float[] array = new float[20_010];
        for (int i = 0; i < 20_003; i++) {
            direct.setFloat(i, i / 3f);
            array[i + 4] = i / 3f;
        }
        long hash = hash(direct);

        assertEquals(hash, hash(HostTensor.of(DataType.FLOAT32, array, 4, 20_003)));
        for (int changed : List.of(0, 1, 16_383, 16_384, 20_002)) {
            direct.setFloat(changed, -0.0f);
            assertNotEquals(hash, hash(direct), "element " + changed);
            direct.setFloat(changed, changed / 3f);
        }
        assertEquals(hash, hash(direct));
        assertNotEquals(hash(HostTensor.of(new float[] {0})), hash(HostTensor.of(new float[] {-0.0f})));
        assertNotEquals(hash(HostTensor.of(new int[] {0})), hash(HostTensor.of(new float[] {0})));
        assertNotEquals(hash(HostTensor.of(new byte[] {0})), hash(HostTensor.of(new byte[] {0, 0})));
    }

    private static long hash(HostTensor tensor) {
        return TensorHasher.of(tensor);
    }

    @Test
    void aReplicaOfOneRankIsEqual() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 1)) {
            assertNull(ranks.failures(group -> check(group, tensors(1))).get(0));
        }
    }
}
