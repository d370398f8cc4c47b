package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.tck.HeapDeviceMemory.Direction;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The six tests of the first reference, with its values and tolerance: simulated ranks, the gate open. */
class ReferenceTest {
    private static final float TOLERANCE = 1e-6f;

    @Test
    @DisplayName("test_gpu_allreduce_sum_2_ranks (0-10 0-16 0-19 0-29)")
    void sumOfTwoRanksIsOnBoth() {
        float[][] given = {{1, 2, 3}, {4, 5, 6}};
        for (float[] sum : reduced(given, ReduceOp.SUM)) {
            assertArrayEquals(new float[] {5, 7, 9}, sum, TOLERANCE);
        }
    }

    @Test
    @DisplayName("test_gpu_allreduce_mean_2_ranks")
    void meanOfTwoRanksIsOnBoth() {
        float[][] given = {{2, 4}, {6, 8}};
        for (float[] mean : reduced(given, ReduceOp.AVG)) {
            assertArrayEquals(new float[] {4, 6}, mean, TOLERANCE);
        }
    }

    @Test
    @DisplayName("test_gpu_broadcast_from_rank_0")
    void broadcastOfRankZeroIsOnBoth() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            List<float[]> results = group.run(rank -> {
                DeviceTensor own = rank == 0 ? group.tensor(0, 42, 99) : group.tensor(1, -1, -2);
                DeviceTensor result = group.door(rank).broadcast(own, 0, group.host(rank));
                assertNotEquals(own.address(), result.address(), "the result must be a tensor of its own");
                assertEquals(rank, result.device(), "device of the result");
                return group.floats(rank, result);
            });
            assertArrayEquals(new float[] {42, 99}, results.get(0), TOLERANCE);
            assertArrayEquals(new float[] {42, 99}, results.get(1), TOLERANCE);
        }
    }

    @Test
    @DisplayName("test_gpu_allreduce_single_rank")
    void singleRankKeepsItsElements() {
        float[] given = {1.5f, -2.5f, 3.5f};
        assertArrayEquals(given, reduced(new float[][] {given}, ReduceOp.SUM).get(0));
    }

    @Test
    @DisplayName("test_gpu_allreduce_preserves_shape (0-19)")
    void shapeIsKept() {
        try (DeviceGroup group = DeviceGroup.of(1)) {
            DeviceTensor given = group.heap(0).upload(HostTensor.of(new float[] {1, 2, 3, 4, 5, 6}), 0, 2, 3);
            DeviceTensor result = group.door(0).allReduce(given, ReduceOp.SUM, group.host(0));
            assertArrayEquals(new long[] {2, 3}, result.shape());
            assertEquals(DataType.FLOAT32, result.dataType());
        }
    }

    @Test
    @DisplayName("test_gpu_broadcast_invalid_root (0-28: through the host, and with no way at all)")
    void rootThatIsNoRankIsToldFirstWithItsNumbers() {
        for (String gate : List.of("1", "0")) {
            try (DeviceGroup group = DeviceGroup.with(2, Map.of("ferro.gpu.fallback", gate))) {
                group.run(rank -> {
                    DeviceTensor own = group.tensor(rank, 42, 99);
                    InvalidRankException refused = assertThrows(
                            InvalidRankException.class, () -> group.door(rank).broadcast(own, 5, group.host(rank)));
                    assertEquals(List.of(5, 2), List.of(refused.rank(), refused.worldSize()), "gate " + gate);
                    return null;
                });
                assertEquals(0, group.copies(Direction.TO_HOST), "copies of a refused call");
            }
        }
    }

    /** All-reduces on every rank, checks that no input has changed (0-16), and returns the results by rank. */
    private static List<float[]> reduced(float[][] given, ReduceOp op) {
        try (DeviceGroup group = DeviceGroup.of(given.length)) {
            return group.run(rank -> {
                DeviceTensor own = group.tensor(rank, given[rank]);
                DeviceTensor result = group.door(rank).allReduce(own, op, group.host(rank));
                assertArrayEquals(given[rank], group.floats(rank, own), "the input must stay as it was");
                assertEquals(own.device(), result.device(), "device of the result");
                return group.floats(rank, result);
            });
        }
    }
}
