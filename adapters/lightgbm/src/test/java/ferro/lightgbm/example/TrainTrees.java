package ferro.lightgbm.example;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.lightgbm.EarlyStopping;
import ferro.lightgbm.LightGbmBooster;
import ferro.lightgbm.LightGbmDataset;
import ferro.lightgbm.LightGbmNetwork;
import java.util.Locale;
import java.util.Random;

/**
 * A rank that trains a model with its part of random rows. The arguments are the number of rows of the job and the number
 * of iterations.
 */
public final class TrainTrees {
    private static final int COLUMNS = 28;
    private static final int VALIDATION_ROWS = 2_000;
    private static final int ROUNDS = 10;

    private TrainTrees() {}

    public static void main(String[] arguments) {
        int rows = Integer.parseInt(arguments[0]);
        int iterations = Integer.parseInt(arguments[1]);
        String model = train(rows, iterations);
        System.out.println("trained a model of "
                + model.lines().filter(line -> line.startsWith("Tree=")).count()
                + " trees, hash of the trees "
                + Integer.toHexString(
                        model.substring(0, model.indexOf("\nparameters:")).hashCode()));
        stopEarly(rows, iterations);
    }

    private static String train(int rows, int iterations) {
        // @start region="train"
        String parameters = "objective=binary num_leaves=31 num_threads=1 verbosity=-1";
        try (ProcessGroup group = ProcessGroup.join();
                LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            double[] values = values(rows, group.rank(), group.worldSize()); // the rows of this rank, row by row
            LightGbmDataset data = network.dataset(values, COLUMNS, labels(values), parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            while (booster.iterations() < iterations && booster.update()) {
                // one more tree, from the rows of all ranks
            }
            return booster.modelString(); // every rank has the same trees
        }
        // @end
    }

    private static void stopEarly(int rows, int iterations) {
        String parameters = "objective=binary metric=binary_logloss num_leaves=31 num_threads=1 verbosity=-1";
        try (ProcessGroup group = ProcessGroup.join();
                LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            double[] values = values(rows, group.rank(), group.worldSize());
            double[] unseen = values(VALIDATION_ROWS, group.rank() + group.worldSize(), group.worldSize());
            LightGbmDataset data = network.dataset(values, COLUMNS, labels(values), parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            // @start region="stop"
            int validation = booster.addValidation(data.validation(unseen, labels(unseen)));
            EarlyStopping stopping = EarlyStopping.whenNotLower(ROUNDS);
            while (booster.iterations() < iterations && booster.update()) {
                if (stopping.add(booster.metrics(validation)[0])) { // the same value on all ranks
                    break;
                }
            }
            double[] predictions = booster.predict(HostTensor.of(unseen), stopping.bestIteration());
            // @end
            System.out.printf(
                    Locale.ROOT,
                    "best iteration %d of %d, log loss %.6f, first prediction %.6f%n",
                    stopping.bestIteration(),
                    booster.iterations(),
                    booster.metrics(validation)[0],
                    predictions[0]);
        }
    }

    private static double[] values(int rows, int rank, int worldSize) {
        int own = (rows - rank % worldSize + worldSize - 1) / worldSize;
        return new Random(rank).doubles((long) own * COLUMNS, -1, 1).toArray();
    }

    private static float[] labels(double[] values) {
        float[] labels = new float[values.length / COLUMNS];
        Random noise = new Random(values.length);
        for (int row = 0; row < labels.length; row++) {
            int first = row * COLUMNS;
            double target = values[first] + values[first + 1] * values[first + 2] + noise.nextGaussian() / 4;
            labels[row] = target > 0 ? 1 : 0;
        }
        return labels;
    }
}
