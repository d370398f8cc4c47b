package ferro.training.optimizer;

import ferro.DataType;
import ferro.group.ProcessGroup;
import ferro.training.BucketSettings;
import ferro.training.GradientBuckets;
import ferro.training.Gradients;
import ferro.training.Gradients.Element;
import ferro.training.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Buckets of one rank and an optimizer over them, which is stepped by gradients that depend on parameter, rank and step. */
final class OptimizerRun implements AutoCloseable {
    /** Of both types; one is longer than two blocks, and one bucket has more padding than elements. */
    static final List<Parameter> PARAMETERS = List.of(
            Parameter.of("embedding", DataType.FLOAT32, 7, 31),
            Parameter.of("scale", DataType.FLOAT64, 3),
            Parameter.of("wide.weight", DataType.FLOAT32, 50, 101),
            Parameter.of("wide.bias", DataType.FLOAT32, 50),
            Parameter.of("mix", DataType.FLOAT64, 13, 99),
            Parameter.of("out.weight", DataType.FLOAT32, 11, 3),
            Parameter.of("out.bias", DataType.FLOAT32));

    static final BucketSettings SETTINGS = BucketSettings.DEFAULT.withBytes(64, 16 << 10);

    /** One of each kind, with what changes the order of operations. */
    static final List<UpdateRule> RULES = List.of(
            UpdateRule.adamW().withRate(0.02).withWeightDecay(0.1),
            UpdateRule.adam().withWeightDecay(0.01),
            UpdateRule.sgd().withRate(0.1).withNesterov(0.9).withWeightDecay(0.01));

    final GradientBuckets buckets;
    final ShardedOptimizer optimizer;

    OptimizerRun(ProcessGroup group, boolean sharded, UpdateRule rule) {
        buckets = GradientBuckets.builder(group)
                .parameters(PARAMETERS)
                .settings(SETTINGS)
                .sharded(sharded)
                .build();
        optimizer = ShardedOptimizer.over(buckets, rule);
        for (int parameter = 0; parameter < PARAMETERS.size(); parameter++) {
            Gradients.fill(optimizer.parameter(parameter), parameter, 0, -1, Gradients::random);
        }
    }

    /** Computes gradients and says that they are ready. */
    void compute(int step, Element element) {
        for (int parameter = PARAMETERS.size() - 1; parameter >= 0; parameter--) {
            Gradients.fill(
                    buckets.gradient(parameter), parameter, buckets.group().rank(), step, element);
            buckets.ready(parameter);
        }
    }

    /** Gradients whose averages over equal ranks are exact, whatever their number: small multiples of 1/64, equal on all ranks. */
    static double equalOnAllRanks(int parameter, long element, int rank, int step) {
        return Gradients.exact(parameter, element, 0, step) / 64;
    }

    void step(int step, Element element, DoubleUnaryOperator schedule) {
        compute(step, element);
        optimizer.rate(schedule.applyAsDouble(step));
        optimizer.step();
    }

    /** All parameters, one behind the other; equal lists have equal bits, zeros and NaN apart. */
    List<Double> parameters() {
        List<Double> all = new ArrayList<>();
        for (int parameter = 0; parameter < PARAMETERS.size(); parameter++) {
            for (double value : Gradients.values(optimizer.parameter(parameter))) {
                all.add(value);
            }
        }
        return all;
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
