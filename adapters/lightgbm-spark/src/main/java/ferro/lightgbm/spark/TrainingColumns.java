package ferro.lightgbm.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;

/**
 * The names of the columns that a training reads. The ranks get the columns in this order, without those that are null.
 *
 * @param features   name of the column of features
 * @param label      name of the column of the label
 * @param weight     name of the column of the weight; null if all rows have the same weight
 * @param validation name of the column that is true for validation rows; null if all rows train
 */
record TrainingColumns(String features, String label, String weight, String validation) implements Serializable {
    private static final long serialVersionUID = 1L;

    static TrainingColumns standard() {
        return new TrainingColumns("features", "label", null, null);
    }

    TrainingColumns withFeatures(String column) {
        return new TrainingColumns(column, label, weight, validation);
    }

    TrainingColumns withLabel(String column) {
        return new TrainingColumns(features, column, weight, validation);
    }

    TrainingColumns withWeight(String column) {
        return new TrainingColumns(features, label, column, validation);
    }

    TrainingColumns withValidation(String column) {
        return new TrainingColumns(features, label, weight, column);
    }

    /** Returns only the columns that the ranks read, so that a shuffle moves no others. Refuses columns of other types. */
    Dataset<Row> selected(Dataset<Row> rows) {
        List<Column> all = new ArrayList<>(List.of(featuresOf(rows), number(rows, label, "label")));
        if (weight != null) {
            all.add(number(rows, weight, "weight"));
        }
        if (validation != null) {
            Column booleans = column(rows, validation);
            DataType type = type(rows, booleans);
            require(type instanceof BooleanType, validation, type, "the validation column needs a boolean");
            all.add(booleans);
        }
        return rows.select(all.toArray(Column[]::new));
    }

    private Column featuresOf(Dataset<Row> rows) {
        Column column = column(rows, features);
        DataType type = type(rows, column);
        if (type.simpleString().equals("vector")) {
            return column;
        }
        require(
                type instanceof ArrayType array && array.elementType() instanceof NumericType,
                features,
                type,
                "the features need a Vector, which VectorAssembler makes, or an array of numbers");
        return column.cast("array<double>");
    }

    private static Column number(Dataset<Row> rows, String name, String use) {
        Column column = column(rows, name);
        DataType type = type(rows, column);
        require(
                type instanceof NumericType || type instanceof BooleanType,
                name,
                type,
                "the " + use + " needs a number or a boolean");
        return column.cast("double");
    }

    private static Column column(Dataset<Row> rows, String name) {
        try {
            return rows.col(name);
        } catch (RuntimeException stopped) {
            throw stopped;
        } catch (Exception unknown) {
            // Spark's AnalysisException, which is checked, but which no method of Spark declares
            throw new IllegalArgumentException(
                    "the Dataset has no column " + name + ", or several: " + unknown.getMessage(), unknown);
        }
    }

    private static DataType type(Dataset<Row> rows, Column column) {
        return rows.select(column).schema().fields()[0].dataType();
    }

    private static void require(boolean fits, String name, DataType type, String need) {
        if (!fits) {
            throw new IllegalArgumentException("column " + name + " has the type " + type.simpleString() + ": " + need);
        }
    }
}
