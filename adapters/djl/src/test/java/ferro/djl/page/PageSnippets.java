package ferro.djl.page;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.translate.TranslateException;
import ferro.djl.DistributedOptimizer;
import ferro.djl.DjlAdam;
import ferro.djl.StagedBlock;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.CheckpointInfo;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/**
 * The snippets of docs/djl.md. Comments mark the start and the end of each snippet. {@code DjlPageTest} runs them on
 * two ranks.
 */
public final class PageSnippets {
    private static final int INPUTS = 4;
    private static final int SAMPLES = 24;

    private PageSnippets() {}

    /** Trains two models. The argument is a folder for checkpoints. */
    public static void main(String[] arguments) throws IOException, TranslateException {
        // @start region="offline"
        System.setProperty("ai.djl.offline", "true"); // never download
        System.setProperty("OPT_OUT_TRACKING", "true"); // never report
        System.setProperty("ai.djl.pytorch.num_threads", "1"); // one core per rank
        System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
        // @end
        train();
        trainInStages(arguments[0]);
    }

    private static void train() throws IOException, TranslateException {
        SequentialBlock block = block();
        // @start region="train"
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("mine")) {
            model.setBlock(block);
            DistributedOptimizer optimizer =
                    DistributedOptimizer.over(group, block, Optimizer.adam().build());
            DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer);
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, INPUTS));
                optimizer.broadcastParameters();
                NDManager manager = trainer.getManager();
                EasyTrain.fit(trainer, 2, samples(manager, group.rank(), group.worldSize()), null);
            }
            optimizer.close();
            print("trained", block); // every rank has the same model now
        }
        // @end
    }

    private static void trainInStages(String folder) throws IOException, TranslateException {
        SequentialBlock sequential = block();
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("staged")) {
            // @start region="staged"
            StagedBlock block = StagedBlock.of(sequential);
            model.setBlock(block);
            DistributedOptimizer optimizer =
                    DistributedOptimizer.over(group, block, DjlAdam.builder().build());
            // @end
            DefaultTrainingConfig config =
                    new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss()).optOptimizer(optimizer);
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, INPUTS));
                optimizer.broadcastParameters();
                ArrayDataset dataset = samples(trainer.getManager(), group.rank(), group.worldSize());
                // @start region="loop"
                for (Batch batch : trainer.iterateDataset(dataset)) {
                    block.trainBatch(trainer, batch, optimizer); // in place of EasyTrain.trainBatch(trainer, batch)
                    trainer.step();
                    batch.close();
                }
                System.out.println("hidden: " + optimizer.lastStep().hidden());
                block.whyNotOverlapped().ifPresent(System.out::println); // nothing, if the model could be cut
                // @end
                // @start region="uneven"
                long steps = optimizer.trainUneven(
                        trainer, trainer.iterateDataset(dataset), batch -> EasyTrain.trainBatch(trainer, batch));
                // @end
                System.out.println("uneven " + steps);
                save(group, optimizer, folder);
            }
            optimizer.close();
            print("staged", sequential);
        }
    }

    private static void save(ProcessGroup group, DistributedOptimizer optimizer, String folder) {
        // @start region="save"
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(Path.of(folder)))) {
            optimizer.save(checkpoints, 4, Map.of("epoch", "1")); // all ranks call it
            CheckpointInfo loaded = optimizer.load(checkpoints); // also on another number of ranks
            System.out.println("loaded step " + loaded.step() + ", epoch "
                    + loaded.metadata().get("epoch"));
        }
        // @end
    }

    private static SequentialBlock block() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(8).build())
                .add(Activation.reluBlock())
                .add(Linear.builder().setUnits(2).build());
    }

    // @start region="samples"
    /** The part of the samples that this rank trains on: every n-th one. */
    private static ArrayDataset samples(NDManager manager, int rank, int worldSize) {
        float[][] own = new float[SAMPLES / worldSize][];
        float[] labels = new float[own.length];
        for (int at = 0; at < own.length; at++) {
            own[at] = sample(at * worldSize + rank);
            labels[at] = own[at][0] > 0 ? 1 : 0;
        }
        NDArray data = manager.create(own);
        return new ArrayDataset.Builder()
                .setData(data)
                .optLabels(manager.create(labels))
                .setSampling(6, false)
                .build();
    }
    // @end

    private static float[] sample(int number) {
        Random random = new Random(number);
        float[] sample = new float[INPUTS];
        for (int at = 0; at < INPUTS; at++) {
            sample[at] = (float) random.nextGaussian();
        }
        return sample;
    }

    private static void print(String word, SequentialBlock block) {
        int hash = 1;
        for (float value : block.getParameters().valueAt(0).getArray().toFloatArray()) {
            hash = 31 * hash + Float.floatToIntBits(value);
        }
        System.out.println(word + " " + hash);
    }
}
