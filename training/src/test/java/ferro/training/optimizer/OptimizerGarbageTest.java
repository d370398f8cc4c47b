package ferro.training.optimizer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import ferro.DataType;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.GradientBuckets;
import ferro.training.Gradients;
import ferro.training.Parameter;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a step allocates on its thread, by the JVM's own count: the handles of its calls, and nothing for each element. */
class OptimizerGarbageTest {
    private static final int STEPS = 60;
    /** Two buckets, each with an all-gather, an all-gather of the norm, and the result: 800 at most were seen. */
    private static final long MAX_BYTES = 1200;

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void aStepAllocatesOnlyWhatItsCallsAllocate(Medium medium) {
        Ranks.each(medium, 2, group -> {
            for (int elementCount : new int[] {100, 100_000}) {
                for (boolean sharded : new boolean[] {true, false}) {
                    long bytes = leastOfAStep(group, sharded, elementCount);
                    assertTrue(bytes <= MAX_BYTES, bytes + " bytes, sharded: " + sharded + ", " + elementCount);
                }
            }
        });
    }

    private static long leastOfAStep(ProcessGroup group, boolean sharded, int elementCount) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(List.of(
                                Parameter.of("a", DataType.FLOAT32, elementCount),
                                Parameter.of("b", DataType.FLOAT64, elementCount)))
                        .sharded(sharded)
                        .build();
                ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adamW())) {
            for (int step = 0; step < STEPS; step++) {
                Gradients.fill(buckets.gradient(0).slice(0, 1), 0, group.rank(), step, Gradients::random);
                buckets.ready(0);
                buckets.ready(1);
                long before = threads.getThreadAllocatedBytes(thread);
                optimizer.clipByGlobalNorm(1e-9);
                optimizer.step();
                least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
            }
        }
        return least;
    }
}
