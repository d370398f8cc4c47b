package ferro.training.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.Gradients;
import ferro.training.Join;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OptimizerJoinTest {
    private static final int RANKS = 3;

    /** Rank r has 2 + r batches: the last steps have gradients of one rank only, and the shares of all. */
    @ParameterizedTest
    @EnumSource
    void ranksWithoutDataUpdateTheirShare(Medium medium) {
        List<List<Double>> sharded = Ranks.run(medium, RANKS, group -> trained(group, true));
        List<List<Double>> full = Ranks.run(medium, RANKS, group -> trained(group, false));
        sharded.forEach(parameters -> assertEquals(full.get(0), parameters));
    }

    private static List<Double> trained(ProcessGroup group, boolean sharded) {
        try (OptimizerRun run = new OptimizerRun(group, sharded, UpdateRule.adamW())) {
            Join<Integer> join = Join.over(
                    run.buckets, IntStream.range(0, 2 + group.rank()).boxed().iterator());
            while (join.next()) {
                join.withBatch(batch -> run.compute(batch, Gradients::random));
                run.optimizer.clipByGlobalNorm(0.5);
                run.optimizer.step();
            }
            assertEquals(1 + RANKS, run.optimizer.stepCount());
            return run.parameters();
        }
    }
}
