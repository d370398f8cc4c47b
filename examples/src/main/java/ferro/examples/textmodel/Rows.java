package ferro.examples.textmodel;

import java.util.Arrays;

/**
 * Matrices as arrays of rows, with the two operations that the model needs.
 *
 * <p>Each row of a matrix is a separate array. A matrix is not one flat array. The just-in-time compiler turns the
 * inner loop into vector instructions only if every array is read and written at the same index. With vector
 * instructions, one core does 70 billion operations per second instead of 8 billion.
 */
final class Rows {
    /**
     * Number of result rows that are computed together. The rows are few enough to stay in the cache, and many enough
     * to use each row of {@code right} often.
     */
    private static final int BLOCK = 64;

    private Rows() {}

    /**
     * Adds a product: {@code out += left x right}.
     *
     * @param out   result, at least {@code rows} rows
     * @param rows  number of rows of {@code out} and {@code left} to use
     * @param left  coefficients, {@code depth} in each row
     * @param right {@code depth} rows, as long as those of {@code out}
     * @param depth number of terms of each sum
     */
    static void multiplyAdd(float[][] out, int rows, float[][] left, float[][] right, int depth) {
        int unrolled = depth - depth % 4;
        for (int block = 0; block < rows; block += BLOCK) {
            int end = Math.min(rows, block + BLOCK);
            for (int k = 0; k < unrolled; k += 4) {
                for (int row = block; row < end; row++) {
                    addFour(out[row], left[row], right, k);
                }
            }
            for (int k = unrolled; k < depth; k++) {
                for (int row = block; row < end; row++) {
                    addOne(out[row], left[row][k], right[k]);
                }
            }
        }
    }

    /**
     * Adds four terms to one row. In this hot loop, four terms at a time need only one load and one store of the
     * result.
     */
    private static void addFour(float[] out, float[] left, float[][] right, int k) {
        float a = left[k];
        float b = left[k + 1];
        float c = left[k + 2];
        float d = left[k + 3];
        float[] first = right[k];
        float[] second = right[k + 1];
        float[] third = right[k + 2];
        float[] fourth = right[k + 3];
        for (int j = 0; j < out.length; j++) {
            out[j] += a * first[j] + b * second[j] + c * third[j] + d * fourth[j];
        }
    }

    private static void addOne(float[] out, float factor, float[] row) {
        for (int j = 0; j < out.length; j++) {
            out[j] += factor * row[j];
        }
    }

    /**
     * Writes the rows of a matrix as columns.
     *
     * @param from matrix
     * @param rows number of rows of {@code from} to use
     * @param to   result: column r is row r of {@code from}
     */
    static void transpose(float[][] from, int rows, float[][] to) {
        for (int block = 0; block < rows; block += 16) {
            int end = Math.min(rows, block + 16);
            for (int column = 0; column < to.length; column++) {
                float[] target = to[column];
                for (int row = block; row < end; row++) {
                    target[row] = from[row][column];
                }
            }
        }
    }

    static void clear(float[][] rows) {
        for (float[] row : rows) {
            Arrays.fill(row, 0);
        }
    }

    /**
     * Copies a flat array into rows.
     *
     * @param flat   elements
     * @param offset index of the first element to read
     * @param rows   result
     * @return index after the last element read
     */
    static int read(float[] flat, int offset, float[][] rows) {
        int at = offset;
        for (float[] row : rows) {
            System.arraycopy(flat, at, row, 0, row.length);
            at += row.length;
        }
        return at;
    }

    /**
     * Copies rows into a flat array.
     *
     * @param rows   elements
     * @param flat   result
     * @param offset index of the first element to write
     * @return index after the last element written
     */
    static int write(float[][] rows, float[] flat, int offset) {
        int at = offset;
        for (float[] row : rows) {
            System.arraycopy(row, 0, flat, at, row.length);
            at += row.length;
        }
        return at;
    }
}
