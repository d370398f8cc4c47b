package ferro.examples.textmodel;

/**
 * Products of matrices as arrays of rows. The just-in-time compiler turns the inner loop into vector instructions only if
 * every array is read and written at the same index, which needs a separate array for each row.
 */
final class MatrixProducts {
    /** Rows of the result that are computed together: few enough for the cache, many enough to use {@code right} often. */
    private static final int BLOCK = 64;

    private MatrixProducts() {}

    /** Adds a product of {@code depth} terms to the first rows: {@code out += left x right}. */
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
                    add(out[row], left[row][k], right[k]);
                }
            }
        }
    }

    /** Adds four terms to one row with one load and one store of the result. */
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

    /** Adds a row, times a factor, to another row. */
    static void add(float[] out, float factor, float[] row) {
        for (int j = 0; j < out.length; j++) {
            out[j] += factor * row[j];
        }
    }

    /** Writes the first rows of a matrix as columns. */
    static void transpose(float[][] from, int rows, float[][] to) {
        for (int block = 0; block < rows; block += 16) {
            int end = Math.min(rows, block + 16);
            for (int column = 0; column < to.length; column++) {
                for (int row = block; row < end; row++) {
                    to[column][row] = from[row][column];
                }
            }
        }
    }
}
