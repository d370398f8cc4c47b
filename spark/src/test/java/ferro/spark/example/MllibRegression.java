package ferro.spark.example;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The same model, trained by MLlib, which adds the gradients through the driver. */
public final class MllibRegression {
    private MllibRegression() {}

    /**
     * Returns the weights and then the intercept. Training ends when a step lowers the loss by less than a given
     * fraction.
     */
    public static double[] train(JavaRDD<double[]> rows, int features, double penalty, double tolerance) {
        LogisticRegressionModel model = new LogisticRegression()
                .setRegParam(penalty)
                .setElasticNetParam(0)
                .setStandardization(false)
                .setTol(tolerance)
                .setMaxIter(500)
                .fit(frame(rows, features));
        double[] all = Arrays.copyOf(model.coefficients().toArray(), features + 1);
        all[features] = model.intercept();
        return all;
    }

    private static Dataset<Row> frame(JavaRDD<double[]> rows, int features) {
        StructType columns = DataTypes.createStructType(List.of(
                new StructField("label", DataTypes.DoubleType, false, Metadata.empty()),
                new StructField("features", SQLDataTypes.VectorType(), false, Metadata.empty())));
        SparkSession session =
                SparkSession.builder().sparkContext(rows.context()).getOrCreate();
        return session.createDataFrame(
                rows.map(row -> RowFactory.create(row[features], Vectors.dense(Arrays.copyOf(row, features)))),
                columns);
    }
}
