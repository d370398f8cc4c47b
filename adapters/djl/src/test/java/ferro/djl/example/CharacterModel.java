package ferro.djl.example;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.Batchifier;
import ai.djl.translate.StackBatchifier;
import ferro.ReduceOp;
import ferro.djl.DistributedOptimizer;
import ferro.djl.DjlAdam;
import ferro.djl.StagedBlock;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A program that learns to predict the character after eight others, from all pages and sources in a folder.
 * docs/djl.md has the command for several ranks. Each rank takes its part of every batch, so the number of ranks
 * changes only the time.
 */
public final class CharacterModel {
    private static final int CONTEXT = 8;
    /**
     * The number of character classes: the characters from blank to tilde, the line end, and one class for all others.
     */
    private static final int VOCABULARY = 97;

    private static final int HIDDEN = 128;
    private static final int GLOBAL_BATCH = 60;

    private CharacterModel() {}

    /** Trains the model. The arguments: the folder of the text, the number of steps, and a folder for checkpoints. */
    public static void main(String[] arguments) throws IOException {
        // set these before the first use of a DJL class: DJL would query the cloud's metadata and use all cores
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("OPT_OUT_TRACKING", "true");
        System.setProperty("ai.djl.pytorch.num_threads", "1");
        System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
        try (ProcessGroup group = ProcessGroup.join();
                Model model = Model.newInstance("characters")) {
            Engine.getInstance().setRandomSeed(1);
            StagedBlock block = StagedBlock.of(block());
            model.setBlock(block);
            DistributedOptimizer optimizer = DistributedOptimizer.over(
                    group,
                    block,
                    DjlAdam.builder()
                            .optLearningRateTracker(Tracker.fixed(2e-3f))
                            .build());
            DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer);
            try (Trainer trainer = model.newTrainer(config)) {
                trainer.initialize(new Shape(1, CONTEXT));
                train(trainer, optimizer, group, arguments);
            }
            optimizer.close();
            compare(group, block);
        }
    }

    private static void train(Trainer trainer, DistributedOptimizer optimizer, ProcessGroup group, String[] arguments)
            throws IOException {
        byte[] text = read(Path.of(arguments[0]));
        long steps = Long.parseLong(arguments[1]);
        StagedBlock block = (StagedBlock) trainer.getModel().getBlock();
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(Path.of(arguments[2])))) {
            for (long step = optimizer.resume(checkpoints); step < steps; step++) {
                double loss;
                try (Batch batch = batch(trainer.getManager().newSubManager(), text, group, step)) {
                    loss = block.trainBatch(trainer, batch, optimizer);
                    trainer.step();
                }
                print(group, step, loss);
                if (step + 1 == steps) {
                    optimizer.save(checkpoints, steps, Map.of());
                }
            }
        }
    }

    private static SequentialBlock block() {
        return new SequentialBlock()
                .addSingleton(codes -> codes.oneHot(VOCABULARY).reshape(-1, CONTEXT * VOCABULARY))
                .add(Linear.builder().setUnits(HIDDEN).build())
                .add(Activation.reluBlock())
                .add(Linear.builder().setUnits(VOCABULARY).build());
    }

    private static byte[] read(Path folder) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> read = files.filter(file -> file.toString().matches(".*\\.(java|md)"))
                    .sorted()
                    .toList();
            for (Path file : read) {
                text.append(Files.readString(file));
            }
        }
        byte[] codes = new byte[text.length()];
        for (int at = 0; at < codes.length; at++) {
            char one = text.charAt(at);
            codes[at] = (byte) (one >= ' ' && one <= '~' ? one - ' ' : one == '\n' ? 95 : 96);
        }
        return codes;
    }

    /** Returns this rank's part of a batch. All ranks compute the positions of the full batch from the step number. */
    private static Batch batch(NDManager manager, byte[] text, ProcessGroup group, long step) {
        int count = GLOBAL_BATCH / group.worldSize();
        int from = group.rank() * count;
        float[] contexts = new float[count * CONTEXT];
        float[] next = new float[count];
        SplittableRandom random = new SplittableRandom(step);
        for (int sample = 0; sample < from + count; sample++) {
            int start = random.nextInt(text.length - CONTEXT);
            if (sample >= from) {
                for (int at = 0; at < CONTEXT; at++) {
                    contexts[(sample - from) * CONTEXT + at] = text[start + at];
                }
                next[sample - from] = text[start + CONTEXT];
            }
        }
        NDArray data = manager.create(contexts, new Shape(count, CONTEXT));
        NDArray labels = manager.create(next, new Shape(count, 1));
        Batchifier batchifier = new StackBatchifier();
        return new Batch(
                manager, new NDList(data), new NDList(labels), count, batchifier, batchifier, step, Long.MAX_VALUE);
    }

    /** Prints the mean of the losses of all ranks. The loss of a rank is the mean over its samples. */
    private static void print(ProcessGroup group, long step, double loss) {
        double[] mean = {loss};
        group.allReduce(mean, ReduceOp.AVG);
        if (group.rank() == 0) {
            System.out.printf(Locale.ROOT, "step %d: loss %.7f%n", step, mean[0]);
        }
    }

    private static void compare(ProcessGroup group, StagedBlock block) {
        int[] bits = {1};
        block.getParameters()
                .forEach(named -> bits[0] = 31 * bits[0]
                        + Arrays.hashCode(named.getValue().getArray().toFloatArray()));
        int[] all = new int[group.worldSize()];
        group.allGather(bits, all);
        if (group.rank() == 0) {
            boolean areEqual = Arrays.stream(all).allMatch(other -> other == all[0]);
            System.out.printf("replicas of %d ranks are %s%n", all.length, areEqual ? "equal" : "different");
        }
    }
}
