package ferro.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ferro.group.ProcessGroup;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * A rank that trains twice, with its own number of batches. It prints the number of steps and the learnt parameters.
 */
final class TrainsUnevenly {
    private static final int EPOCHS = 2;
    /** The number of parts of the data. It is fixed, so rank 0 has the same batches for every number of ranks. */
    private static final int RANKS_OF_DATA = 4;

    private TrainsUnevenly() {}

    /** Runs the rank. The arguments say whether the model is trained in stages, and how many batches each rank has. */
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("uneven")) {
            Engine.getInstance().setRandomSeed(7 + group.rank());
            Block block = FitsWithEasyTrain.block(arguments[0]);
            model.setBlock(block);
            DistributedOptimizer optimizer =
                    DistributedOptimizer.over(group, block, Optimizer.adam().build());
            DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer);
            int count = Integer.parseInt(arguments[1 + group.rank()]);
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, FitsWithEasyTrain.INPUTS));
                optimizer.broadcastParameters();
                ArrayDataset dataset = FitsWithEasyTrain.dataset(trainer.getManager(), group.rank(), RANKS_OF_DATA);
                Consumer<Batch> gradients = batch -> {
                    if (block instanceof StagedBlock staged) {
                        staged.trainBatch(trainer, batch, optimizer);
                    } else {
                        EasyTrain.trainBatch(trainer, batch);
                    }
                };
                long steps = 0;
                for (int epoch = 0; epoch < EPOCHS; epoch++) {
                    Iterator<Batch> all = trainer.iterateDataset(dataset).iterator();
                    steps += optimizer.trainUneven(trainer, () -> new FirstBatches(all, count), gradients);
                }
                System.out.println("steps " + steps);
            }
            optimizer.close();
            FitsWithEasyTrain.PrintsLosses.printParameters(block);
        }
    }

    private static final class FirstBatches implements Iterator<Batch> {
        private final Iterator<Batch> all;
        private int left;

        FirstBatches(Iterator<Batch> all, int count) {
            this.all = all;
            left = count;
        }

        @Override
        public boolean hasNext() {
            return left > 0;
        }

        @Override
        public Batch next() {
            left--;
            return all.next();
        }
    }
}
