package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.TranslateException;
import ferro.HostTensor;
import ferro.harness.Child;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests of the traps of docs/djl.md in DJL 0.35.1 with PyTorch. If a newer DJL makes one of these tests fail, remove
 * the trap from the page.
 */
class DjlTrapsTest {
    @Test
    void aViewOfATransposedArrayIsAHiddenCopy() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3));
            NDArray transposed = array.transpose();

            array.toByteBuffer(true).putFloat(0, 7);
            ByteBuffer hidden = transposed.toByteBuffer(true);
            hidden.putFloat(0, 8);

            assertArrayEquals(new float[] {7, 2, 3, 4, 5, 6}, array.toFloatArray());
            assertEquals(4, hidden.getFloat(Float.BYTES), "the order of the transposed shape");
        }
    }

    @Test
    void ferroWritesToTransposedArrays() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray transposed = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3))
                    .transpose();
            HostTensor values = HostTensor.allocate(ferro.DataType.FLOAT32, 6);
            NDArrayCopier.read(transposed, values);
            assertEquals(4, values.buffer().getFloat(Float.BYTES));
            values.buffer().putFloat(0, 9);

            NDArrayCopier.write(values, transposed);

            assertArrayEquals(new float[] {9, 4, 2, 5, 3, 6}, transposed.toFloatArray());
            assertTrue(NDArrayCopier.isOwnMemory(transposed, transposed.toByteBuffer(true)));
        }
    }

    @Test
    void theIteratorClosesTheLastBatchUnlessItIsCopied() throws IOException, TranslateException {
        try (NDManager manager = NDManager.newBaseManager()) {
            ArrayDataset dataset = new ArrayDataset.Builder()
                    .setData(manager.create(new float[] {3, 4}, new Shape(2, 1)))
                    .setSampling(2, false)
                    .build();
            Iterator<Batch> batches = dataset.getData(manager).iterator();
            Batch last = batches.next();
            Iterator<Batch> ownedBatches =
                    new BatchIterator(dataset.getData(manager).iterator(), manager);
            Batch owned = ownedBatches.next();

            assertFalse(batches.hasNext());
            assertFalse(ownedBatches.hasNext());

            assertThrows(
                    IllegalStateException.class, () -> last.getData().head().toFloatArray());
            assertArrayEquals(new float[] {3, 4}, owned.getData().head().toFloatArray());
            assertEquals(2, owned.getSize());
            owned.close();
            assertThrows(
                    IllegalStateException.class, () -> owned.getData().head().toFloatArray());
        }
    }

    @Test
    void aViewOfAClosedArrayShowsLaterData() throws Exception {
        Child found = Child.start(RankJvms.line(List.of(), RunsIntoATrap.class, "close"));
        int code = found.exitCode();

        assertEquals(List.of("1.0"), found.after("open"), found::toString);
        // reading the closed array may end the process instead
        assertTrue(code != 0 || !found.after("closed").equals(List.of("1.0")), found::toString);
    }

    @Test
    void zeroGradientsKeepsNan() {
        try (NDManager manager = NDManager.newBaseManager();
                GradientCollector collector = Engine.getInstance().newGradientCollector()) {
            NDArray weight = manager.create(new float[] {-1, 4});
            weight.setRequiresGradient(true);
            collector.backward(weight.sqrt().sum());
            assertArrayEquals(
                    new float[] {Float.NaN, 0.25f}, weight.getGradient().toFloatArray());

            collector.zeroGradients();

            assertArrayEquals(new float[] {Float.NaN, 0}, weight.getGradient().toFloatArray());
        }
    }

    @Test
    void aSecondGradientCollectorIsRefused() {
        try (GradientCollector first = Engine.getInstance().newGradientCollector()) {
            IllegalStateException refused = assertThrows(
                    IllegalStateException.class, () -> Engine.getInstance().newGradientCollector(), first::toString);

            assertTrue(refused.getMessage().contains("Only one can be collecting"), refused.getMessage());
        }
    }

    @Test
    void aCastToBfloat16EndsTheJvm() throws Exception {
        Child found = Child.start(RankJvms.line(List.of(), RunsIntoATrap.class, "bfloat16"));
        int code = found.exitCode();

        assertEquals(List.of("begins"), found.after("cast"), found::toString);
        // an exit code above 128 means that a signal ended the process
        assertTrue(code > 128, found::toString);
    }

    @Test
    void theNumberOfThreadsIsReadWhenTheEngineIsFirstUsed() {
        String name = "ai.djl.pytorch.num_threads";
        Engine.getInstance();
        int before = JniUtils.getNumThreads();
        String set = System.setProperty(name, Integer.toString(before + 1));
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.ones(new Shape(2)).close();

            assertEquals(before, JniUtils.getNumThreads());
            assertEquals(Integer.toString(before), set, "what the tests were started with");
        } finally {
            System.setProperty(name, set);
        }
    }

    /** The number 0.5 is in memory that the garbage collector frees; the buffers take that memory and overwrite it. */
    @Test
    void aNumberIsFreedBeforeTheBackwardPassReadsIt() {
        boolean isWrong = false;
        for (int round = 0; round < 100 && !isWrong; round++) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray input = manager.create(new float[] {1, 2, 3});
                input.setRequiresGradient(true);
                try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
                    NDArray output = input.square().mul(0.5f).sum();
                    System.gc();
                    List<ByteBuffer> overwriting = IntStream.range(0, 3000)
                            .mapToObj(index -> ByteBuffer.allocateDirect(Float.BYTES)
                                    .order(ByteOrder.nativeOrder())
                                    .putFloat(0, index))
                            .toList();
                    collector.backward(output);
                    assertEquals(3000, overwriting.size());
                }
                isWrong = input.getGradient().toFloatArray()[0] != 1;
            }
        }
        assertTrue(isWrong, "this version of DJL keeps numbers until the backward pass has read them");
    }
}
