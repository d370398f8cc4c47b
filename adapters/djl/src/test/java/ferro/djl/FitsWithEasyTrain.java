package ferro.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ferro.group.ProcessGroup;
import java.util.Random;

/**
 * A rank that trains a small classifier on its part of each batch, with DJL's own loop or in stages. It prints its
 * losses and the learnt parameters. The ranks begin with different parameters.
 */
final class FitsWithEasyTrain {
    static final int GLOBAL_BATCH = 16;
    static final int STEPS = 12;
    static final int INPUTS = 6;
    private static final int CLASSES = 3;

    private FitsWithEasyTrain() {}

    /** The arguments: an optimizer, whether rank 0's parameters are broadcast, and whether the model is trained in stages. */
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("classifier")) {
            Engine.getInstance().setRandomSeed(7 + group.rank());
            Block block = block(arguments[2]);
            model.setBlock(block);
            DistributedOptimizer optimizer = DistributedOptimizer.over(group, block, optimizer(arguments[0]));
            DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer)
                    .addTrainingListeners(new PrintsLosses());
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, INPUTS));
                if (arguments[1].equals("broadcast")) {
                    optimizer.broadcastParameters();
                }
                ArrayDataset dataset = dataset(trainer.getManager(), group.rank(), group.worldSize());
                if (block instanceof StagedBlock staged) {
                    for (Batch batch : trainer.iterateDataset(dataset)) {
                        staged.trainBatch(trainer, batch, optimizer);
                        trainer.step();
                        batch.close();
                    }
                    System.out.println("whyNot " + staged.whyNotOverlapped().orElse("overlapped"));
                } else {
                    EasyTrain.fit(trainer, 1, dataset, null);
                }
            }
            optimizer.close();
            PrintsLosses.printParameters(block);
        }
    }

    static Block block(String kind) {
        SequentialBlock block = new SequentialBlock();
        for (int units : new int[] {16, 12, CLASSES}) {
            block.add(Linear.builder().setUnits(units).build());
            if (units != CLASSES) {
                block.add(Activation.reluBlock());
            }
        }
        return kind.equals("staged") ? StagedBlock.of(block) : block;
    }

    private static Optimizer optimizer(String name) {
        return switch (name) {
            case "adam" ->
                Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.01f)).build();
            case "sgd" ->
                Optimizer.sgd()
                        .setLearningRateTracker(Tracker.fixed(0.05f))
                        .optMomentum(0.9f)
                        .build();
            default -> throw new IllegalArgumentException("unknown optimizer " + name);
        };
    }

    /** Returns the batches of a rank. Each batch is the rank's part of the batch of a single process. */
    static ArrayDataset dataset(NDManager manager, int rank, int worldSize) {
        int batch = GLOBAL_BATCH / worldSize;
        Random random = new Random(11);
        float[] samples = new float[STEPS * batch * INPUTS];
        float[] labels = new float[STEPS * batch];
        for (int sample = 0, own = 0; sample < STEPS * GLOBAL_BATCH; sample++) {
            boolean isOwn = sample % GLOBAL_BATCH / batch == rank;
            float sum = 0;
            for (int input = 0; input < INPUTS; input++) {
                float value = (float) random.nextGaussian();
                sum += value;
                if (isOwn) {
                    samples[own * INPUTS + input] = value;
                }
            }
            if (isOwn) {
                labels[own++] = sum < -1 ? 0 : sum < 1 ? 1 : 2;
            }
        }
        return new ArrayDataset.Builder()
                .setData(manager.create(samples, new Shape(labels.length, INPUTS)))
                .optLabels(manager.create(labels, new Shape(labels.length, 1)))
                .setSampling(batch, false)
                .build();
    }

    static final class PrintsLosses extends TrainingListenerAdapter {
        @Override
        public void onTrainingBatch(Trainer trainer, BatchData batch) {
            NDList labels = batch.getLabels().get(Device.cpu());
            NDList predictions = batch.getPredictions().get(Device.cpu());
            try (NDArray loss = trainer.getLoss().evaluate(labels, predictions)) {
                System.out.println("loss " + loss.getFloat());
            }
        }

        static void printParameters(Block block) {
            StringBuilder bits = new StringBuilder("replica");
            block.getParameters().forEach(named -> {
                for (float value : named.getValue().getArray().toFloatArray()) {
                    bits.append(' ').append(Integer.toHexString(Float.floatToIntBits(value)));
                }
            });
            System.out.println(bits);
        }
    }
}
