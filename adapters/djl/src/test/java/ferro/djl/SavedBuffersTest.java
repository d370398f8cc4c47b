package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.norm.BatchNorm;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of running means and variances in checkpoints. They differ from rank to rank during training, and a checkpoint
 * contains the values of rank 0.
 */
class SavedBuffersTest {
    private static final int RANKS = 3;
    private static final int CHANNELS = 5;

    @TempDir
    private Path folder;

    @Test
    void savedBuffersAreThoseOfRankZero() {
        SimulatedBackend.run(RANKS, this::save);
        try (NDManager manager = NDManager.newBaseManager();
                ProcessGroup alone =
                        ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
                Checkpoints checkpoints = Checkpoints.open(alone, LocalStorage.at(folder))) {
            Block block = batchNorm(manager, 9);
            DistributedOptimizer.over(alone, block, DjlAdam.builder().build()).load(checkpoints);
            assertBuffers(0, block);
        }
    }

    private void save(ProcessGroup group) {
        try (NDManager manager = NDManager.newBaseManager();
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            Block block = batchNorm(manager, group.rank());
            DistributedOptimizer.over(group, block, DjlAdam.builder().build()).save(checkpoints, 1, Map.of());
            assertBuffers(0, block);
        }
    }

    private static Block batchNorm(NDManager manager, int value) {
        BatchNorm block = BatchNorm.builder().build();
        block.initialize(manager, DataType.FLOAT32, new Shape(2, CHANNELS));
        for (NDArray buffer : buffers(block)) {
            buffer.set(filled(value));
        }
        return block;
    }

    private static List<NDArray> buffers(Block block) {
        List<NDArray> buffers = block.getParameters().values().stream()
                .filter(parameter -> !parameter.requiresGradient())
                .map(Parameter::getArray)
                .toList();
        assertEquals(2, buffers.size());
        return buffers;
    }

    private static void assertBuffers(int value, Block block) {
        for (NDArray buffer : buffers(block)) {
            assertArrayEquals(filled(value), buffer.toFloatArray());
        }
    }

    private static float[] filled(int value) {
        float[] values = new float[CHANNELS];
        Arrays.fill(values, value);
        return values;
    }
}
