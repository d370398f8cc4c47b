package ferro.training;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a step allocates on the thread that makes it, beside what the calls of its buckets do. */
class GradientAllocationTest {
    private static final int PARAMETERS = 200;
    private static final int ROUNDS = 200;
    /** The result of a step, and what a measurement is off by. */
    private static final long RESULT_BYTES = 256;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @EnumSource
    void aStepAllocatesOnlyWhatItsCallsAllocate(Medium medium) {
        List<Parameter> parameters = IntStream.range(0, PARAMETERS)
                .mapToObj(index -> Parameter.of("p" + index, DataType.FLOAT32, 64))
                .toList();
        Ranks.each(medium, 2, group -> {
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                    .parameters(parameters)
                    .settings(BucketSettings.DEFAULT.withBytes(4096, 8192))
                    .build()) {
                HostTensor own = HostTensor.allocate(DataType.FLOAT32, 64);
                // the least of several, since the engine makes something new now and then
                long calls = Long.MAX_VALUE;
                long steps = Long.MAX_VALUE;
                for (int round = 0; round < ROUNDS; round++) {
                    calls = Math.min(calls, allocated(() -> calls(buckets.group(), buckets)));
                    steps = Math.min(steps, allocated(() -> step(buckets, own)));
                }
                long more = steps - calls;
                assertTrue(
                        more <= RESULT_BYTES,
                        "a step allocates " + more + " bytes beside the " + calls + " of its calls");
            }
        });
    }

    private static long allocated(Runnable task) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        task.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    private static void calls(ProcessGroup group, GradientBuckets buckets) {
        int count = buckets.layout().buckets().size();
        Work[] works = new Work[count];
        for (int bucket = 0; bucket < count; bucket++) {
            works[bucket] = group.allReduceAsync(buckets.bucket(bucket), ReduceOp.AVG);
        }
        for (Work work : works) {
            work.await();
            work.elapsed();
        }
    }

    private static void step(GradientBuckets buckets, HostTensor own) {
        for (int parameter = PARAMETERS - 1; parameter >= 0; parameter--) {
            buckets.put(parameter, own);
            buckets.ready(parameter);
        }
        buckets.finish();
    }
}
