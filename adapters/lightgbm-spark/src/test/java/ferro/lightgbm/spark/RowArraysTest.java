package ferro.lightgbm.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowArraysTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @CsvSource({"0, 3", "1, 3", "2500, 1", "2500, 50", "9, 20000", "3, 40000"})
    void theArraysHaveTheNumbersOfAllRowsInOrder(int rows, int columns) {
        double[] values = new double[rows * columns];
        float[] labels = new float[rows];
        float[] weights = new float[rows];
        RowArrays arrays = new RowArrays();
        for (int row = 0; row < rows; row++) {
            labels[row] = row;
            weights[row] = rows + row;
            double[] features = new double[columns];
            for (int column = 0; column < columns; column++) {
                features[column] = row * columns + column;
                values[row * columns + column] = features[column];
            }
            arrays.add(features, labels[row], weights[row]);
        }

        assertEquals(rows, arrays.rows());
        assertEquals(rows == 0 ? 0 : columns, arrays.columns());
        assertArrayEquals(labels, arrays.labels());
        assertArrayEquals(weights, arrays.weights());
        assertArrayEquals(values, arrays.takeValues());
    }

    @Test
    void aWideRowReservesNoOtherRows() {
        double[] features = new double[100_000];
        long rowBytes = 8L * features.length;

        long bytes = allocated(() -> new RowArrays().add(features, 1, 1));

        assertTrue(bytes < 2 * rowBytes, bytes + " bytes for a row of " + rowBytes);
    }

    /** The arrays and their copy need 2 times the bytes of the rows, and the last block and the labels a little more. */
    @Test
    void rowsNeedAtMostTwoAndAHalfTimesTheirSize() {
        double[] features = new double[500];
        int rows = 2_100;
        long rowBytes = 8L * features.length * rows;

        long bytes = allocated(() -> {
            RowArrays arrays = new RowArrays();
            for (int row = 0; row < rows; row++) {
                arrays.add(features, 1, 1);
            }
            assertEquals(rows * features.length, arrays.takeValues().length);
        });

        assertTrue(bytes < 5 * rowBytes / 2, bytes + " bytes for rows of " + rowBytes);
    }

    private static long allocated(Runnable call) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        call.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
}
