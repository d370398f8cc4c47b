package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.backend.simulated.SimulatedBackend;
import ferro.training.Averages;
import ferro.training.GradientBuckets;
import ferro.training.Join;
import ferro.training.Parameter;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The examples of docs/training.md that are not in the program of this page. */
class TrainingPageSnippetsTest {
    @Test
    void ranksMayHaveDifferentNumbersOfBatches() {
        SimulatedBackend.run(3, group -> {
            List<Parameter> parameters = List.of(Parameter.of("slope", DataType.FLOAT32, 1));
            List<Long> batches =
                    LongStream.rangeClosed(1, 2 + group.rank()).boxed().toList();
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                            .parameters(parameters)
                            .build();
                    ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.sgd())) {
                Averages averages = Averages.over(group, "loss");
                // @start region="uneven"
                Join<Long> join = Join.over(buckets, batches.iterator()).shadow(averages::takePartWithoutData);
                while (join.next()) {
                    join.withBatch(batch -> {
                        buckets.gradient(0).setFloat(0, batch);
                        buckets.ready(0);
                        averages.add(1, batch);
                        averages.exchange(); // ranks without a batch take part by what shadow() names
                    });
                    optimizer.step(); // on every rank, so that all keep the same parameters
                }
                // @end
                assertEquals(4, optimizer.stepCount());
            }
        });
    }
}
