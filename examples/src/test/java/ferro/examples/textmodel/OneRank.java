package ferro.examples.textmodel;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.optimizer.UpdateRule;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A group of one rank with a replica that has initial parameters. */
final class OneRank implements AutoCloseable {
    private final ProcessGroup group =
            ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
    private final Batches batches;
    private final Shape shape;
    final ModelReplica replica;

    OneRank(Shape shape, Batches batches, long seed, UpdateRule rule) {
        this.shape = shape;
        this.batches = batches;
        replica = replica(group, shape, rule);
        replica.write(shape.initialParameters(seed));
    }

    static ModelReplica replica(ProcessGroup group, Shape shape, UpdateRule rule) {
        return new ModelReplica(
                shape,
                GradientBuckets.builder(group).parameters(shape.parameters()).build(),
                rule);
    }

    List<TrainingStep> train(int steps, BooleanSupplier outOfTime) {
        ShareGradient full = new ShareGradient(new CharModel(shape, batches.batchSize()), batches, 1);
        return new Trainer(group, full, replica, steps).train(0, outOfTime, step -> {});
    }

    @Override
    public void close() {
        replica.close();
        group.close();
    }
}
