package ferro.examples.textmodel;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.optimizer.UpdateRule;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A group of one rank, with a trainer that has initial parameters. */
final class OneRank implements AutoCloseable {
    private final ProcessGroup group =
            ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
    final Trainer trainer;

    OneRank(CharModel.Shape shape, Batches batches, UpdateRule rule) {
        trainer = new Trainer(
                group,
                shape,
                batches,
                GradientBuckets.builder(group).parameters(shape.parameters()).build(),
                rule);
    }

    List<Trainer.TrainingStep> train(int steps, BooleanSupplier outOfTime) {
        return trainer.train(0, 1, steps, outOfTime, step -> {});
    }

    @Override
    public void close() {
        trainer.close();
        group.close();
    }
}
