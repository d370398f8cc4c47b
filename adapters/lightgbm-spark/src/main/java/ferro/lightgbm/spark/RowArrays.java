package ferro.lightgbm.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows that are added one by one, as arrays that LightGBM reads: all features row by row, the labels and the weights. The
 * features are kept in blocks, so that no array of all features grows. They are in memory twice while {@link #takeValues}
 * joins the blocks.
 */
final class RowArrays {
    /** Values of a block, 256 KiB. A longer row has a block to itself. */
    private static final int BLOCK_VALUES = 1 << 15;

    private static final int FIRST_LABELS = 64;
    /** Some JVMs cannot allocate the last elements below 2^31. */
    private static final int MAX_VALUES = Integer.MAX_VALUE - 8;

    private final List<double[]> blocks = new ArrayList<>();
    private float[] labels = new float[0];
    private float[] weights = new float[0];
    private int columns;
    private int rows;
    private int rowsOfBlock;

    void add(double[] features, float label, float weight) {
        if (rows == 0) {
            columns = features.length;
            rowsOfBlock = Math.max(1, BLOCK_VALUES / columns);
        }
        if ((rows + 1L) * columns > MAX_VALUES) {
            throw new IllegalArgumentException("the partition has more than " + MAX_VALUES
                    + " numbers: use more ranks (FerroSpark.ranks), or repartition the Dataset");
        }
        if (rows == labels.length) {
            growLabels();
        }
        int at = rows % rowsOfBlock;
        if (at == 0) {
            blocks.add(new double[rowsOfBlock * columns]);
        }
        System.arraycopy(features, 0, blocks.get(blocks.size() - 1), at * columns, columns);
        labels[rows] = label;
        weights[rows] = weight;
        rows++;
    }

    private void growLabels() {
        int length = (int) Math.min(Math.max(FIRST_LABELS, rows + rows / 2L), MAX_VALUES);
        labels = Arrays.copyOf(labels, length);
        weights = Arrays.copyOf(weights, length);
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
        double[] taken = new double[rows * columns];
        int at = 0;
        for (int block = 0; block < blocks.size(); block++) {
            double[] values = blocks.set(block, null);
            int count = Math.min(values.length, taken.length - at);
            System.arraycopy(values, 0, taken, at, count);
            at += count;
        }
        blocks.clear();
        return taken;
    }

    float[] labels() {
        return Arrays.copyOf(labels, rows);
    }

    float[] weights() {
        return Arrays.copyOf(weights, rows);
    }
}
