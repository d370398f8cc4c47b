package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.backend.simulated.Simulation;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class TypeSnippetsTest {
    // @start region="reduction"
    static final ReduceOp LOG_SUM =
            ReduceOp.ofDoubles("log sum", (a, b) -> Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));
    // @end

    @Test
    void aReductionOfTwoElementsCombinesAllRanks() {
        SimulatedBackend.run(2, group -> {
            double[] logs = {Math.log(1 + group.rank())};
            group.allReduce(logs, LOG_SUM);
            assertEquals(Math.log(1 + 2), logs[0], 1e-12);
        });
    }

    @Test
    void aReductionOfArraysCombinesAllRanks() {
        // @start region="reductionOfArrays"
        ReduceOp hypot = ReduceOp.of("hypot", DataType.FLOAT32, float[].class, (into, received, count) -> {
            for (int i = 0; i < count; i++) {
                into[i] = (float) Math.sqrt(into[i] * into[i] + received[i] * received[i]);
            }
        });
        // @end
        SimulatedBackend.run(2, group -> {
            float[] sides = {3 + group.rank()};
            group.allReduce(sides, hypot);
            assertEquals(5, sides[0]);
        });
    }

    @Test
    void aReductionOfRecordsCombinesAllRanks() {
        // @start region="reductionOfRecords"
        // a record is the sum of some numbers (f64), and how many there are (i64)
        ReduceOp means = ReduceOp.ofBytes("means", 16, (into, received) -> {
            for (int at = 0; at < into.limit(); at += 16) {
                into.putDouble(at, into.getDouble(at) + received.getDouble(at));
                into.putLong(at + 8, into.getLong(at + 8) + received.getLong(at + 8));
            }
        });
        // @end
        SimulatedBackend.run(2, group -> {
            ByteBuffer record = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
            record.putDouble(0, 1.5 + group.rank()).putLong(8, 3);
            group.allReduce(HostTensor.of(DataType.UINT8, record), means);
            assertEquals(4, record.getDouble(0));
            assertEquals(6, record.getLong(8));
        });
    }

    @Test
    void sixteenBitFloatsAreConverted() {
        // @start region="halves"
        HostTensor gradients = HostTensor.of(new float[] {1, 0.1f});
        HostTensor halves = HostTensor.allocate(DataType.BFLOAT16, 2);
        HalfFloats.convert(gradients, halves); // group.allReduce(halves, ReduceOp.AVG) sends half of the bytes
        HalfFloats.convert(halves, gradients);
        // @end
        assertEquals(1, gradients.getFloat(0));
        assertEquals(0.10009765625f, gradients.getFloat(1));
    }

    @Test
    void elementsOfATensorAreReadAndWritten() {
        HostTensor tensor = HostTensor.allocate(DataType.FLOAT32, 100);
        tensor.setFloat(0, 3);
        // @start region="elements"
        float first = tensor.getFloat(0);
        tensor.setFloat(0, 2 * first);
        float[] copy = new float[100];
        tensor.copyTo(0, copy, 0, 100); // and back: tensor.copyFrom(0, copy, 0, 100)
        // @end
        assertEquals(6, copy[0]);
    }

    @Test
    void oneHandleWaitsForSeveralOperations() {
        SimulatedBackend.run(2, group -> {
            HostTensor weights = HostTensor.of(new float[] {1, 2});
            HostTensor biases = HostTensor.of(new float[] {3});
            // @start region="all"
            Work weightSum = group.allReduceAsync(weights, ReduceOp.SUM);
            Work biasSum = group.allReduceAsync(biases, ReduceOp.SUM);
            Work.all(List.of(weightSum, biasSum)).await();
            // @end
            assertEquals(4, weights.getFloat(1));
            assertEquals(6, biases.getFloat(0));
        });
    }

    @Test
    void aSimulationRunsRanksUnderSeeds() {
        // @start region="simulation"
        Simulation.seeds(100).forEach(seed -> {
            int[][] data = {{3}, {4}};
            Simulation.of(2, seed)
                    .onEveryRank(group -> group.allReduceAsync(data[group.rank()], ReduceOp.SUM))
                    .check(() -> assertArrayEquals(new int[][] {{7}, {7}}, data))
                    .run();
        });
        // @end
    }
}
