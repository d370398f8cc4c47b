package ferro.lightgbm.spark;

import java.util.Arrays;

/** Rows in arrays that grow, as LightGBM reads them: all features row by row, the labels and the weights. */
final class RowArrays {
    private static final int FIRST_ROWS = 1024;
    /** Some JVMs cannot allocate the last elements below 2^31. */
    private static final int MAX_VALUES = Integer.MAX_VALUE - 8;

    private double[] values = new double[0];
    private float[] labels = new float[0];
    private float[] weights = new float[0];
    private int columns;
    private int rows;

    void add(double[] features, float label, float weight) {
        columns = features.length;
        int from = rows * columns;
        if ((long) from + columns > MAX_VALUES) {
            throw new IllegalArgumentException("the partition has more than " + MAX_VALUES
                    + " numbers: use more ranks (FerroSpark.ranks), or repartition the Dataset");
        }
        if (rows == labels.length) {
            grow();
        }
        System.arraycopy(features, 0, values, from, columns);
        labels[rows] = label;
        weights[rows] = weight;
        rows++;
    }

    private void grow() {
        int capacity = (int) Math.min(Math.max(FIRST_ROWS, 2L * rows), MAX_VALUES / columns);
        values = Arrays.copyOf(values, capacity * columns);
        labels = Arrays.copyOf(labels, capacity);
        weights = Arrays.copyOf(weights, capacity);
    }

    int rows() {
        return rows;
    }

    /** Returns the number of features of a row; 0 without rows. */
    int columns() {
        return columns;
    }

    /** Returns the features of all rows. This object forgets them. */
    double[] takeValues() {
        double[] taken = Arrays.copyOf(values, rows * columns);
        values = new double[0];
        return taken;
    }

    float[] labels() {
        return Arrays.copyOf(labels, rows);
    }

    float[] weights() {
        return Arrays.copyOf(weights, rows);
    }
}
