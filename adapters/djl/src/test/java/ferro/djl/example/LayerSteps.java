package ferro.djl.example;

import ai.djl.Device;
import ai.djl.Model;
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
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.Batchifier;
import ai.djl.translate.StackBatchifier;
import ferro.ReduceOp;
import ferro.djl.DistributedOptimizer;
import ferro.djl.DjlSgd;
import ferro.djl.StagedBlock;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A program that compares three kinds of training steps on a model of equal layers. The first kind only computes, in
 * one process. The second kind sends gradients while others are computed. The third kind sends all gradients at the
 * end. The three kinds take turns. The program prints the median of each kind, measured on the slowest rank.
 * docs/djl.md has the command.
 */
public final class LayerSteps {
    private static final int LAYERS = 10;
    private static final int UNITS = 512;
    private static final int CLASSES = 10;
    /** The number of warm-up steps that are not counted, because the JVM still compiles the code. */
    private static final int WARM = 5;

    private final ProcessGroup group;
    private final int batchSize;

    private LayerSteps(ProcessGroup group, int batchSize) {
        this.group = group;
        this.batchSize = batchSize;
    }

    private interface Step {
        void run(Batch batch);
    }

    /** A kind of training, with its model and the times of its steps. */
    private static final class Way implements AutoCloseable {
        private final String name;
        private final List<Runnable> open = new ArrayList<>();
        private final List<Double> millis = new ArrayList<>();
        private Trainer trainer;
        private Step step;

        Way(String name) {
            this.name = name;
        }

        private void trains(Block block, Optimizer optimizer) {
            Model model = Model.newInstance(name);
            open.add(model::close);
            model.setBlock(block);
            trainer = model.newTrainer(new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                    .optDevices(new Device[] {Device.cpu()})
                    .optOptimizer(optimizer));
            open.add(trainer::close);
            trainer.initialize(new Shape(1, UNITS));
        }

        @Override
        public void close() {
            for (int at = open.size() - 1; at >= 0; at--) {
                open.get(at).run();
            }
        }
    }

    /** Runs the measurement. The arguments: the number of steps of each kind, and of samples in a batch. */
    public static void main(String[] arguments) {
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("OPT_OUT_TRACKING", "true");
        System.setProperty("ai.djl.pytorch.num_threads", "1");
        System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
        try (ProcessGroup group = ProcessGroup.join()) {
            new LayerSteps(group, Integer.parseInt(arguments[1])).measure(Integer.parseInt(arguments[0]));
        }
    }

    private void measure(int steps) {
        try (Way alone = alone();
                Way staged = staged();
                Way atEnd = atEnd()) {
            List<Way> ways = List.of(alone, staged, atEnd);
            for (int step = -WARM; step < steps; step++) {
                for (Way way : ways) {
                    double millis = time(way);
                    if (step >= 0) {
                        way.millis.add(millis);
                    }
                }
            }
            for (Way way : ways) {
                print(way);
            }
        }
    }

    private Way alone() {
        Way way = new Way("computing alone");
        way.trains(model(), sgd());
        way.step = batch -> EasyTrain.trainBatch(way.trainer, batch);
        return way;
    }

    private Way staged() {
        Way way = new Way("gradients sent while computing");
        StagedBlock block = StagedBlock.of(model());
        DistributedOptimizer optimizer = DistributedOptimizer.over(group, block, sgd());
        way.trains(block, optimizer);
        way.open.add(optimizer::close);
        optimizer.broadcastParameters();
        way.step = batch -> block.trainBatch(way.trainer, batch, optimizer);
        return way;
    }

    private Way atEnd() {
        Way way = new Way("gradients sent at the end");
        SequentialBlock block = model();
        DistributedOptimizer optimizer = DistributedOptimizer.over(group, block, sgd());
        way.trains(block, optimizer);
        way.open.add(optimizer::close);
        optimizer.broadcastParameters();
        way.step = batch -> EasyTrain.trainBatch(way.trainer, batch);
        return way;
    }

    private static Optimizer sgd() {
        return DjlSgd.builder().setLearningRateTracker(Tracker.fixed(1e-3f)).build();
    }

    private static SequentialBlock model() {
        SequentialBlock model = new SequentialBlock();
        for (int layer = 0; layer < LAYERS; layer++) {
            model.add(Linear.builder().setUnits(UNITS).build()).add(Activation.reluBlock());
        }
        return model.add(Linear.builder().setUnits(CLASSES).build());
    }

    private double time(Way way) {
        try (Batch batch = batch(way.trainer.getManager().newSubManager())) {
            group.barrier();
            long begun = System.nanoTime();
            way.step.run(batch);
            way.trainer.step();
            double[] millis = {(System.nanoTime() - begun) / (double) TimeUnit.MILLISECONDS.toNanos(1)};
            group.allReduce(millis, ReduceOp.MAX);
            return millis[0];
        }
    }

    private Batch batch(NDManager manager) {
        NDList data = new NDList(manager.ones(new Shape(batchSize, UNITS)));
        NDList labels = new NDList(manager.zeros(new Shape(batchSize, 1)));
        Batchifier batchifier = new StackBatchifier();
        return new Batch(manager, data, labels, batchSize, batchifier, batchifier, 0, Long.MAX_VALUE);
    }

    private void print(Way way) {
        if (group.rank() == 0) {
            double[] sorted =
                    way.millis.stream().mapToDouble(Double::doubleValue).toArray();
            Arrays.sort(sorted);
            System.out.printf(
                    Locale.ROOT,
                    "%s: median of %d steps %.1f ms, fastest %.1f, slowest %.1f%n",
                    way.name,
                    sorted.length,
                    sorted[sorted.length / 2],
                    sorted[0],
                    sorted[sorted.length - 1]);
        }
    }
}
