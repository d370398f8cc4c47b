package ferro.lightgbm;

import java.util.Random;

/** Rows with labels that depend on the values. All ranks make the same rows; a rank keeps each row r, r + n, … */
public final class SampleRows {
    public static final int COLUMNS = 8;
    public static final String SERIAL =
            "num_threads=1 verbosity=-1 seed=7 deterministic=true force_col_wise=true min_data_in_leaf=5";

    private static final int CATEGORIES = 40;
    private static final int CLASSES = 3;

    final double[] values;
    final float[] labels;

    private SampleRows(double[] values, float[] labels) {
        this.values = values;
        this.labels = labels;
    }

    /** Returns the rows of one rank. The labels are numbers, 0 or 1, or three classes, as the objective needs. */
    static SampleRows of(String objective, int rows, int rank, int worldSize) {
        return random(objective, rows, rank, worldSize, new Random(42));
    }

    static SampleRows unseen(String objective, int rows, int rank, int worldSize) {
        return random(objective, rows, rank, worldSize, new Random(43));
    }

    private static SampleRows random(String objective, int rows, int rank, int worldSize, Random random) {
        int count = (rows - rank + worldSize - 1) / worldSize;
        double[] values = new double[count * COLUMNS];
        float[] labels = new float[count];
        double[] row = new double[COLUMNS];
        for (int index = 0; index < rows; index++) {
            for (int column = 0; column < COLUMNS; column++) {
                row[column] = column % 4 == 3 ? random.nextInt(CATEGORIES) : random.nextGaussian();
            }
            double target = row[0] + row[1] * row[2] + 0.05 * row[3] - 1 + Math.sin(3 * row[4]) + random.nextGaussian();
            if (index % worldSize == rank) {
                System.arraycopy(row, 0, values, index / worldSize * COLUMNS, COLUMNS);
                labels[index / worldSize] = label(objective, target);
            }
        }
        return new SampleRows(values, labels);
    }

    private static float label(String objective, double target) {
        return switch (objective) {
            case "regression" -> (float) target;
            case "binary" -> target > 0 ? 1 : 0;
            default -> target < -0.5 ? 0 : target < 0.5 ? 1 : CLASSES - 1;
        };
    }

    static String parameters(String objective) {
        return SERIAL + " num_leaves=15 objective=" + objective
                + (objective.equals("multiclass") ? " num_class=3" : "");
    }

    /** Returns the trees of a model without its parameters, among which are those of the network. */
    static String trees(String model) {
        return model.substring(0, model.indexOf("\nparameters:"));
    }
}
