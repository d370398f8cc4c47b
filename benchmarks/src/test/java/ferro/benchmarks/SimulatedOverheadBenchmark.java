package ferro.benchmarks;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.simulated.Simulation;
import ferro.group.ProcessGroup;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** 4 KiB all-reduces of two simulated ranks on one thread: the engine's own time, with no socket and no other thread in it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 30, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 50, timeUnit = TimeUnit.MILLISECONDS)
@Fork(2)
public class SimulatedOverheadBenchmark {
    private static final int CALLS = 1000;
    private static final int ELEMENTS = 1024;

    /** 0 is a recorder that is off. */
    @Param({"2048", "0"})
    private String entries;

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public Simulation.Result allReduces() {
        return Simulation.of(2, 7, Map.of("ferro.recorder.entries", entries, "ferro.heartbeat.interval", "0s"))
                .onEveryRank(group -> chain(group, HostTensor.of(new float[ELEMENTS]), CALLS))
                .run();
    }

    private static void chain(ProcessGroup group, HostTensor data, int calls) {
        if (calls > 0) {
            group.allReduceAsync(data, ReduceOp.SUM).completion().thenRun(() -> chain(group, data, calls - 1));
        }
    }
}
