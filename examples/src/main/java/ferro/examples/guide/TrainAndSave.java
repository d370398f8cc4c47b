package ferro.examples.guide;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.Resume;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.nio.file.Path;
import java.util.List;

/** Trains 40 steps, saves every 10 steps, and ends like a killed process after the number of steps in its second argument. */
final class TrainAndSave {
    public static void main(String[] arguments) {
        long maxSteps = arguments.length > 1 ? Long.parseLong(arguments[1]) : Long.MAX_VALUE;
        try (ProcessGroup group = ProcessGroup.join();
                GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(List.of(Parameter.of("slope", DataType.FLOAT32, 1)))
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.1));
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(Path.of(arguments[0])))) {
            HostTensor slope = optimizer.parameter(0);
            TrainingState state =
                    TrainingState.of(List.of(NamedTensor.of("slope", slope, 1))).withSlices(optimizer.state());
            long first = Resume.from(checkpoints, state, optimizer::restore).step(); // into slope and the optimizer
            while (optimizer.stepCount() < 40) {
                if (group.rank() == 1 && optimizer.stepCount() - first == maxSteps) {
                    Runtime.getRuntime().halt(137); // as if somebody had killed this rank
                }
                buckets.gradient(0).setFloat(0, slope.getFloat(0) - 2 - group.rank());
                buckets.ready(0);
                optimizer.step();
                long step = optimizer.stepCount();
                if (step % 10 == 0) {
                    checkpoints.save(step, state.withMetadata(optimizer.settings()));
                    report(group, "saved step " + step + ", slope " + slope.getFloat(0));
                }
            }
        }
    }

    private static void report(ProcessGroup group, String line) {
        if (group.rank() == 0) {
            System.out.println(line);
        }
    }
}
