package ferro.benchmarks;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.ElementCopier;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.KernelFactory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a kernel takes for one run, beside a copy of the same run; {@code benchmarks/kernels/run.sh} runs it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 8, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 7, time = 60, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class KernelBenchmark {
    @Param("f32")
    String type;

    @Param("sum")
    String op;

    /** Memories of the first operand and the second. */
    @Param("heap+direct")
    String memories;

    @Param({"1", "16384"})
    int elements;

    HostTensor first;
    HostTensor second;
    private DataType dataType;
    private Kernel kernel;
    private final ElementCopier copies = new ElementCopier();

    /** Makes both runs, of zeros: no op overflows, however often it runs. */
    @Setup
    public void prepare() {
        dataType = DataType.parse(type);
        kernel = KernelFactory.of(dataType, ReduceOp.parse(op), 2);
        String[] kinds = memories.split("\\+");
        first = tensor(kinds[0]);
        second = tensor(kinds[1]);
    }

    private HostTensor tensor(String kind) {
        return switch (kind) {
            case "heap" -> HostTensor.ofArray(dataType, dataType.carrier().newArray(elements), 0, elements);
            case "direct" -> HostTensor.allocate(dataType, elements);
            default -> throw new IllegalArgumentException("memory " + kind + ": use heap or direct");
        };
    }

    @Benchmark
    public void combine() {
        kernel.combine(first.memory(), first.offset(), second.memory(), second.offset(), elements);
    }

    @Benchmark
    public void combineBoth() {
        kernel.combineBoth(first.memory(), first.offset(), second.memory(), second.offset(), elements);
    }

    @Benchmark
    public void copy() {
        copies.copy(first, 0, second, 0, elements);
    }
}
