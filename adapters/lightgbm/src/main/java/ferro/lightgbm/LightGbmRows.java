package ferro.lightgbm;

import static java.util.Objects.requireNonNull;

import ferro.DataType;
import ferro.HostTensor;
import ferro.lightgbm.ffi.LightGbmFunctions;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Rows as LightGBM reads them. An array is passed without its parts outside the rows; a direct buffer is not copied. */
final class LightGbmRows {
    final int count;
    final int columns;
    /** {@code double[]}, {@code float[]} or a direct {@code ByteBuffer}. */
    private final Object memory;

    private final int type;

    private LightGbmRows(int count, int columns, Object memory, int type) {
        this.count = count;
        this.columns = columns;
        this.memory = memory;
        this.type = type;
    }

    static LightGbmRows of(HostTensor rows, int columns) {
        DataType type = requireNonNull(rows, "rows").dataType();
        if (type != DataType.FLOAT32 && type != DataType.FLOAT64) {
            throw new IllegalArgumentException("rows need f32 or f64, found " + type.label());
        }
        long count = columns < 1 ? 0 : rows.elementCount() / columns;
        if (columns < 1 || count * columns != rows.elementCount() || count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    rows.elementCount() + " values are no rows of " + columns + " columns, at most 2^31 - 1 rows");
        }
        int code = type == DataType.FLOAT32 ? LightGbmFunctions.FLOAT32 : LightGbmFunctions.FLOAT64;
        return new LightGbmRows((int) count, columns, memory(rows), code);
    }

    /** Returns rows of a data set, which needs at least one row and a label for each row. */
    static LightGbmRows labelled(HostTensor rows, int columns, float[] labels) {
        LightGbmRows checked = of(rows, columns);
        if (checked.count == 0) {
            throw new IllegalArgumentException("found " + checked.count
                    + " rows, need at least 1: give each rank a part of the rows, or start fewer ranks");
        }
        requireLength("labels", labels, checked.count);
        return checked;
    }

    static void requireLength(String what, float[] values, int rows) {
        if (values.length != rows) {
            throw new IllegalArgumentException(
                    "need one of " + what + " per row, found " + values.length + " for " + rows + " rows");
        }
    }

    private static Object memory(HostTensor rows) {
        int from = (int) rows.offset();
        int to = from + (int) rows.elementCount();
        if (rows.memory() instanceof double[] values) {
            return from == 0 && to == values.length ? values : Arrays.copyOfRange(values, from, to);
        }
        if (rows.memory() instanceof float[] values) {
            return from == 0 && to == values.length ? values : Arrays.copyOfRange(values, from, to);
        }
        return rows.buffer();
    }

    int createDataset(String parameters, long reference, long[] out) {
        if (memory instanceof double[] values) {
            return LightGbmFunctions.LGBM_DatasetCreateFromMat(
                    values, type, count, columns, 1, parameters, reference, out);
        }
        if (memory instanceof float[] values) {
            return LightGbmFunctions.LGBM_DatasetCreateFromMat(
                    values, type, count, columns, 1, parameters, reference, out);
        }
        return LightGbmFunctions.LGBM_DatasetCreateFromMat(
                (ByteBuffer) memory, type, count, columns, 1, parameters, reference, out);
    }

    int predict(long booster, int iterations, String parameters, double[] out) {
        int normal = LightGbmFunctions.PREDICT_NORMAL;
        long[] written = new long[1];
        if (memory instanceof double[] values) {
            return LightGbmFunctions.LGBM_BoosterPredictForMat(
                    booster, values, type, count, columns, 1, normal, 0, iterations, parameters, written, out);
        }
        if (memory instanceof float[] values) {
            return LightGbmFunctions.LGBM_BoosterPredictForMat(
                    booster, values, type, count, columns, 1, normal, 0, iterations, parameters, written, out);
        }
        return LightGbmFunctions.LGBM_BoosterPredictForMat(
                booster, (ByteBuffer) memory, type, count, columns, 1, normal, 0, iterations, parameters, written, out);
    }
}
