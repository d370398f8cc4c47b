package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.tck.Ranks;
import ferro.training.Averages;
import ferro.training.GradientBuckets;
import ferro.training.Join;
import ferro.training.Parameter;
import ferro.training.RankSampler;
import ferro.training.RankSampler.LastSamples;
import ferro.training.Replicas;
import ferro.training.ShardedOptimizer;
import ferro.training.StepTimes;
import ferro.training.UpdateRule;
import ferro.training.checkpoint.CheckpointInfo;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import ferro.training.monitor.TrainingMonitor;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/training.md are the regions of this file; here they run on two ranks, and go on with three. */
class TrainingPageSnippetsTest {
    private static final float[][] POINTS = points();

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /** Points of y = 2 x + 1. */
    private static float[][] points() {
        float[][] points = new float[60][];
        for (int index = 0; index < points.length; index++) {
            float x = index % 12 / 6f - 1;
            points[index] = new float[] {x, 2 * x + 1};
        }
        return points;
    }

    @Test
    void trainsALineAndGoesOnWithAnotherNumberOfRanks() {
        onRanks(2, group -> trained(group, 10));
        onRanks(3, group -> {
            float[] line = trained(group, 40);
            assertEquals(2, line[0], 0.05);
            assertEquals(1, line[1], 0.05);
        });
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("loss"), text);
    }

    private static void onRanks(int count, Ranks.RankCode code) {
        try (Ranks ranks = Ranks.of(SimulatedBackend.createGroup(count), count)) {
            ranks.run(code);
        }
    }

    private float[] trained(ProcessGroup group, int epochs) throws Exception {
        // @start region="parameters"
        List<Parameter> parameters =
                List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(parameters)
                        .sharded(true) // each rank keeps a part of the optimizer's state; leave it out to keep all
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.05))) {
            HostTensor slope = optimizer.parameter(0);
            HostTensor offset = optimizer.parameter(1);
            // @end
            // @start region="sampler"
            RankSampler sampler = RankSampler.of(POINTS.length, 17, LastSamples.DROP, group.rank(), group.worldSize());
            // @end
            goOn(group, optimizer, sampler, epochs);
            // @start region="equal"
            Replicas.of(group).checkEqual(Map.of("slope", slope, "offset", offset));
            // @end
            return new float[] {slope.getFloat(0), offset.getFloat(0)};
        }
    }

    private void goOn(ProcessGroup group, ShardedOptimizer optimizer, RankSampler sampler, int epochs) {
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        HostTensor slope = optimizer.parameter(0);
        HostTensor offset = optimizer.parameter(1);
        TrainingState state = TrainingState.of(
                        List.of(NamedTensor.of("slope", slope, 1), NamedTensor.of("offset", offset, 1)))
                .withSlices(optimizer.state());
        // @start region="resume"
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            if (checkpoints.latest().isPresent()) {
                CheckpointInfo saved = checkpoints.load(state);
                optimizer.restore(saved.metadata());
                sampler.restore(saved.metadata());
            }
            TrainingMonitor monitor =
                    TrainingMonitor.builder(group).lines(out).reportEvery(100).build();
            for (; sampler.epoch() < epochs; sampler.startEpoch(sampler.epoch() + 1)) {
                train(sampler, optimizer, monitor);
            }
            Map<String, String> rest = new HashMap<>(optimizer.settings());
            rest.putAll(sampler.state());
            checkpoints.save(optimizer.stepCount(), state.withMetadata(rest));
        }
        // @end
    }

    private static void train(RankSampler sampler, ShardedOptimizer optimizer, TrainingMonitor monitor) {
        GradientBuckets buckets = optimizer.buckets();
        HostTensor slope = optimizer.parameter(0);
        HostTensor offset = optimizer.parameter(1);
        // @start region="step"
        while (sampler.remaining() > 0) {
            float[] point = POINTS[(int) sampler.next()]; // this rank's sample: no other rank has it
            float error = slope.getFloat(0) * point[0] + offset.getFloat(0) - point[1];

            buckets.gradient(1).setFloat(0, 2 * error); // of the offset
            buckets.ready(1); // may leave for the other ranks at once
            buckets.gradient(0).setFloat(0, 2 * error * point[0]); // of the slope, while that travels
            buckets.ready(0);

            StepTimes times = optimizer.step(); // averages are there: all ranks change their parameters alike
            monitor.step(1, error * error, times);
        }
        // @end
    }

    @Test
    void ranksMayHaveDifferentNumbersOfBatches() {
        onRanks(3, group -> {
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
