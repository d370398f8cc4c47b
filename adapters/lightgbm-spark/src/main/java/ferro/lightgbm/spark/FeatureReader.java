package ferro.lightgbm.spark;

import java.util.List;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;

/** Reads the features of a row. */
final class FeatureReader {
    private FeatureReader() {}

    /** Returns the numbers of the first column of a row, which is an array of doubles or a vector. */
    static double[] of(Row row, String column) {
        Object value = row.get(0);
        if (value == null) {
            throw new IllegalArgumentException("column " + column + " is null");
        }
        // first, because a Spark without MLlib has no vectors
        if (value instanceof scala.collection.Seq) {
            return numbers(row.getList(0));
        }
        if (value instanceof Vector vector) {
            return vector.toArray();
        }
        throw new IllegalArgumentException("column " + column + " has a "
                + value.getClass().getName() + ": the features need a Vector of org.apache.spark.ml, or array<double>");
    }

    private static double[] numbers(List<Double> values) {
        double[] numbers = new double[values.size()];
        int at = 0;
        for (Double value : values) {
            numbers[at++] = value == null ? Double.NaN : value;
        }
        return numbers;
    }
}
