package ferro.benchmarks;

import ferro.group.SystemContext;
import ferro.recorder.CallCounter;
import ferro.recorder.FlightRecorder;
import ferro.recorder.GroupRecorder;
import ferro.recorder.RecordedGroup;
import ferro.spi.GroupSpec;
import java.time.Duration;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What one operation costs in the flight recorder, from its submit to its end: time and, by {@code -prof gc}, memory. Many short
 * rounds: on a busy machine some of them are left alone.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 20, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@Fork(2)
public class RecorderBenchmark {
    private static final int STEPS = 6;
    private static final int BYTES = 4096;

    /** 0 is a recorder that is off. */
    @Param({"2048", "0"})
    private String entries;

    private GroupRecorder group;
    private long sequence;

    @Setup
    public void enter() {
        SystemContext context = SystemContext.of(Map.of("ferro.recorder.entries", entries));
        GroupSpec spec = GroupSpec.of("world", 0, 2, Duration.ofSeconds(3));
        group = FlightRecorder.of(context, spec).enter("world", 0, new int[] {0, 1}, new Nothing());
    }

    @Benchmark
    public void counted() {
        group.counter().ended(CallCounter.SEND, 1, BYTES, 0, STEPS);
    }

    @Benchmark
    public int operation() {
        long now = ++sequence;
        int entry = group.submitted(now, "allReduce f32[1024] sum by ring", BYTES, now);
        group.running(entry);
        group.done(entry, now, STEPS, BYTES);
        return entry;
    }

    private static final class Nothing implements RecordedGroup {
        @Override
        public Failed failure() {
            return null;
        }

        @Override
        public RecordedStatus status() {
            return RecordedStatus.IDLE;
        }
    }
}
