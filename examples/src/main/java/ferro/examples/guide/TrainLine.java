package ferro.examples.guide;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.RankSampler;
import ferro.training.RankSampler.LastSamples;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.List;

/** Learns the line y = 2 x + 1 from 60 points. Each rank computes gradients for its own points. */
final class TrainLine {
    public static void main(String[] arguments) {
        List<Parameter> parameters =
                List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
        try (ProcessGroup group = ProcessGroup.join();
                GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(parameters) // the same list on every rank
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.05))) {
            HostTensor slope = optimizer.parameter(0);
            HostTensor offset = optimizer.parameter(1);
            RankSampler sampler = RankSampler.of(60, 17, LastSamples.DROP, group.rank(), group.worldSize());
            for (int epoch = 1; epoch <= 10; sampler.startEpoch(epoch++)) {
                double[] loss = {0};
                while (sampler.remaining() > 0) {
                    float x = sampler.next() / 30f - 1; // a point of this rank: no other rank has it in this epoch
                    float error = slope.getFloat(0) * x + offset.getFloat(0) - (2 * x + 1);
                    buckets.gradient(0).setFloat(0, 2 * error * x);
                    buckets.ready(0); // ferro may send the gradient now
                    buckets.gradient(1).setFloat(0, 2 * error);
                    buckets.ready(1);
                    optimizer.step(); // every rank applies the averages of all ranks
                    loss[0] += error * error;
                }
                group.allReduce(loss, ReduceOp.SUM);
                if (group.rank() == 0) {
                    System.out.printf("epoch %d: loss %.4f%n", epoch, loss[0] / 60);
                }
            }
            System.out.printf("y = %.2f x + %.2f%n", slope.getFloat(0), offset.getFloat(0));
        }
    }
}
