package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MatrixProductsTest {
    private final SplittableRandom random = new SplittableRandom(5);

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 7, 130})
    void aProductOfAnyDepthEqualsThatOfPlainLoops(int depth) {
        int rows = 67;
        int columns = 5;
        float[][] left = filled(rows, depth);
        float[][] right = filled(depth, columns);
        float[][] out = filled(rows, columns);
        float[][] expected = new float[rows][columns];
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                expected[i][j] = out[i][j];
                for (int k = 0; k < depth; k++) {
                    expected[i][j] += left[i][k] * right[k][j];
                }
            }
        }

        MatrixProducts.multiplyAdd(out, rows, left, right, depth);

        for (int i = 0; i < rows; i++) {
            assertArrayEquals(expected[i], out[i], 1e-4f, "row " + i);
        }
    }

    @Test
    void transposedRowsAreColumns() {
        float[][] from = filled(19, 3);
        float[][] to = new float[3][19];

        MatrixProducts.transpose(from, 18, to);

        for (int column = 0; column < 3; column++) {
            for (int row = 0; row < 18; row++) {
                assertArrayEquals(new float[] {from[row][column]}, new float[] {to[column][row]});
            }
        }
    }

    private float[][] filled(int rows, int columns) {
        float[][] matrix = new float[rows][columns];
        for (float[] row : matrix) {
            for (int j = 0; j < columns; j++) {
                row[j] = (float) random.nextDouble(-2, 2);
            }
        }
        return matrix;
    }
}
