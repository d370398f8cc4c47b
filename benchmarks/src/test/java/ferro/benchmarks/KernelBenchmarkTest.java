package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.ElementCopier;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelBenchmarkTest {
    private static final int LENGTH = 200;

    @ParameterizedTest
    @ValueSource(strings = {"heap+heap", "heap+direct", "direct+heap", "direct+direct"})
    void theBenchmarkKernelsCombineAndCopyRight(String memories) {
        KernelBenchmark benchmark = benchmark(DataType.INT32, ReduceOp.SUM, memories);
        ElementCopier copies = new ElementCopier();
        int[] threes = new int[LENGTH];
        Arrays.fill(threes, 3);
        copies.copy(benchmark.second, 0, HostTensor.of(threes), 0, LENGTH);

        benchmark.combine();
        benchmark.combineBoth();
        assertEquals(3 + 3, at(benchmark.first, 150));
        assertEquals(3 + 3, at(benchmark.second, 150));
        benchmark.combine();
        assertEquals(12, at(benchmark.first, 0));
        benchmark.copy();
        assertEquals(6, at(benchmark.first, LENGTH - 1));
    }

    @ParameterizedTest
    @EnumSource
    void theKernelBenchmarkRunsForEveryType(DataType type) {
        KernelBenchmark benchmark = benchmark(type, ReduceOp.MAX, "heap+direct");
        for (int call = 0; call < 100; call++) {
            benchmark.combine();
        }
        assertEquals(LENGTH, benchmark.first.elementCount());
    }

    @Test
    void zerosStayZeros() {
        KernelBenchmark benchmark = benchmark(DataType.FLOAT32, ReduceOp.SUM, "heap+direct");
        benchmark.combineBoth();
        assertArrayEquals(new float[LENGTH], (float[]) benchmark.first.memory());
    }

    private static int at(HostTensor tensor, int index) {
        int[] one = new int[1];
        new ElementCopier().copy(HostTensor.of(one), 0, tensor, index, 1);
        return one[0];
    }

    private static KernelBenchmark benchmark(DataType type, ReduceOp op, String memories) {
        KernelBenchmark benchmark = new KernelBenchmark();
        benchmark.type = type.label();
        benchmark.op = op.name();
        benchmark.memories = memories;
        benchmark.elements = LENGTH;
        benchmark.prepare();
        return benchmark;
    }
}
