package ferro.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.StackBatchifier;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.BucketSettings;
import ferro.training.GradientHook;
import java.util.Random;

/** A rank that trains alone in this JVM. Each parameter has its own bucket. */
final class OneRank implements AutoCloseable {
    static final int WIDTH = 4;
    private static final int BATCH = 6;

    private final ProcessGroup group =
            ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
    private final Model model = Model.newInstance("one");
    private final StagedBlock block;
    private final DistributedOptimizer optimizer;
    private final Trainer trainer;

    OneRank(StagedBlock block, GradientHook hook) {
        this.block = block;
        Engine.getInstance().setRandomSeed(3);
        model.setBlock(block);
        Optimizer sgd =
                Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.1f)).build();
        optimizer = DistributedOptimizer.over(group, block, sgd, BucketSettings.DEFAULT.withBytes(1, 1), hook);
        trainer = model.newTrainer(new DefaultTrainingConfig(new MeanSquare())
                .optDevices(new Device[] {Device.cpu()})
                .optOptimizer(optimizer));
        trainer.initialize(new Shape(1, WIDTH));
    }

    StagedBlock block() {
        return block;
    }

    void trainBatch() {
        NDManager manager = trainer.getManager().newSubManager();
        Random random = new Random(9);
        float[] data = new float[BATCH * WIDTH];
        float[] labels = new float[BATCH * WIDTH];
        for (int at = 0; at < data.length; at++) {
            data[at] = (float) random.nextGaussian();
            labels[at] = (float) random.nextGaussian();
        }
        Shape shape = new Shape(BATCH, WIDTH);
        StackBatchifier batchifier = new StackBatchifier();
        try (Batch batch = new Batch(
                manager,
                new NDList(manager.create(data, shape)),
                new NDList(manager.create(labels, shape)),
                BATCH,
                batchifier,
                batchifier,
                0,
                1)) {
            block.trainBatch(trainer, batch, optimizer);
        }
    }

    void step() {
        trainer.step();
    }

    @Override
    public void close() {
        trainer.close();
        optimizer.close();
        model.close();
        group.close();
    }

    /**
     * The mean of the squared errors. Unlike the losses of DJL, it multiplies no array by a number: DJL keeps the number in
     * memory that is freed when the garbage collector runs before the backward pass (docs/djl.md).
     */
    private static final class MeanSquare extends Loss {
        MeanSquare() {
            super("mean square");
        }

        @Override
        public NDArray evaluate(NDList labels, NDList predictions) {
            return labels.head().sub(predictions.head()).square().mean();
        }
    }
}
