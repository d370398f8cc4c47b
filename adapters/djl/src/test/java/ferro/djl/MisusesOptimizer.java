package ferro.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.tracker.Tracker;
import ferro.group.ProcessGroup;

/**
 * A program that trains and misuses the optimizer on rank 0 in the first step. Each rank prints the resulting
 * exception, and whether the group that was passed to the optimizer still works. Rank 0 continues to run and closes
 * nothing before that.
 */
final class MisusesOptimizer {
    private MisusesOptimizer() {}

    /** The argument says what rank 0 does: update twice, compute gradients twice, or use a wrapped optimizer that throws. */
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("misused")) {
            Engine.getInstance().setRandomSeed(7);
            String misuse = group.rank() == 0 ? arguments[0] : "none";
            StagedBlock block = (StagedBlock) FitsWithEasyTrain.block("staged");
            model.setBlock(block);
            DjlAdam adam = DjlAdam.builder()
                    .optLearningRateTracker(Tracker.fixed(misuse.equals("inner") ? Float.NaN : 0.01f))
                    .build();
            DistributedOptimizer optimizer = DistributedOptimizer.over(group, block, adam);
            DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer);
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, FitsWithEasyTrain.INPUTS));
                try {
                    for (Batch batch : trainer.iterateDataset(
                            FitsWithEasyTrain.dataset(trainer.getManager(), group.rank(), group.worldSize()))) {
                        block.trainBatch(trainer, batch, optimizer);
                        step(trainer, optimizer, misuse);
                        batch.close();
                    }
                } catch (RuntimeException failure) {
                    System.out.println("failed " + failure.getMessage());
                }
                group.barrier();
                System.out.println("group goes on");
            }
            optimizer.close();
        }
    }

    private static void step(Trainer trainer, DistributedOptimizer optimizer, String misuse) {
        if (misuse.equals("update")) {
            Parameter first = trainer.getModel().getBlock().getParameters().valueAt(0);
            NDArray weight = first.getArray();
            optimizer.update(first.getId(), weight, weight.getGradient());
            optimizer.update(first.getId(), weight, weight.getGradient());
        } else if (!misuse.equals("ready")) {
            trainer.step();
        }
    }
}
