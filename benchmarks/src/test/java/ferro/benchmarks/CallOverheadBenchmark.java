package ferro.benchmarks;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.util.Map;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a blocking call costs besides its exchange: checks, plan, turn, number, fingerprint, history, flight recorder. A world of
 * one has nothing to exchange. By {@code -prof gc} also what it allocates.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 20, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Fork(2)
public class CallOverheadBenchmark {
    /** 0 is a recorder that is off. */
    @Param({"2048", "0"})
    private String entries;

    private final float[] array = {3};
    private final HostTensor tensor = HostTensor.of(new float[] {3});
    private ProcessGroup group;

    @Setup
    public void join() {
        Map<String, String> settings = Map.of("ferro.recorder.entries", entries);
        group = Groups.of(SimulatedBackend.createGroup(1, settings).get(0), SystemContext.of(settings));
    }

    @TearDown
    public void close() {
        group.close();
    }

    @Benchmark
    public void barrier() {
        group.barrier();
    }

    @Benchmark
    public void allReduceOfAnArray() {
        group.allReduce(array, ReduceOp.SUM);
    }

    @Benchmark
    public void allReduceOfATensor() {
        group.allReduce(tensor, ReduceOp.SUM);
    }
}
