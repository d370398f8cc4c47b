package ferro.lightgbm.spark;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.lightgbm.EarlyStopping;
import ferro.lightgbm.LightGbmBooster;
import ferro.lightgbm.LightGbmDataset;
import ferro.lightgbm.LightGbmNetwork;
import java.io.Serializable;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Rows whose label depends on the features, as a Dataset with one partition per rank, and as arrays without Spark. */
final class SampleData {
    static final int RANKS = 4;
    static final int FEATURES = 6;
    static final String SERIAL =
            "seed=7 deterministic=true force_col_wise=true min_data_in_leaf=5 num_leaves=15 verbosity=-1";

    private SampleData() {}

    /** One row. Every fifth row validates. */
    record Example(double[] features, double label, double weight, boolean validates) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** Returns the rows of one rank. The ranks have different numbers of rows. */
    static List<Example> ofRank(int rank, int rows) {
        Random random = new Random(rank + 1);
        return IntStream.range(0, rows + 7 * rank)
                .mapToObj(row -> {
                    double[] features = random.doubles(FEATURES, -1, 1).toArray();
                    double target = features[0] + features[1] * features[2] + random.nextGaussian() / 4;
                    return new Example(features, target, 1 + row % 3, row % 5 == 0);
                })
                .toList();
    }

    /** Returns a Dataset with the columns features, label, weight and validates, and one partition per rank. */
    static Dataset<Row> dataset(JavaSparkContext spark, String featuresAs, int rows) {
        JavaRDD<Row> all = perRank(spark)
                .flatMap(rank -> ofRank(rank, rows).stream()
                        .map(each -> RowFactory.create(
                                featuresAs.equals("vector") ? Vectors.dense(each.features) : each.features,
                                each.label,
                                each.weight,
                                each.validates))
                        .iterator());
        return SparkSession.builder().getOrCreate().createDataFrame(all, schema(featuresAs));
    }

    /** Returns an RDD with the number of each rank, in a partition of its own. */
    static JavaRDD<Integer> perRank(JavaSparkContext spark) {
        return spark.parallelize(IntStream.range(0, RANKS).boxed().toList(), RANKS);
    }

    static StructType schema(String featuresAs) {
        DataType features = featuresAs.equals("vector")
                ? SQLDataTypes.VectorType()
                : DataTypes.createArrayType(DataTypes.DoubleType);
        return new StructType()
                .add("features", features)
                .add("label", DataTypes.DoubleType)
                .add("weight", DataTypes.DoubleType)
                .add("validates", DataTypes.BooleanType);
    }

    /** Trains with the same rows on the ranks of a group without Spark. Returns the model of rank 0. */
    static String withoutSpark(int rows, int iterations, String parameters) {
        return SimulatedBackend.runAll(RANKS, group -> {
                    List<Example> own = ofRank(group.rank(), rows);
                    try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                        LightGbmBooster booster = network.booster(data(network, own, parameters), parameters);
                        while (booster.iterations() < iterations && booster.update()) {
                            // the next tree
                        }
                        return booster.modelString();
                    }
                })
                .get(0);
    }

    /** Trains with weights until the metric of the validation rows has not become lower, without Spark. */
    static String stoppedWithoutSpark(int rows, int rounds, String parameters) {
        return SimulatedBackend.runAll(RANKS, group -> stopped(group, rows, rounds, parameters))
                .get(0);
    }

    private static String stopped(ProcessGroup group, int rows, int rounds, String parameters) {
        List<Example> all = ofRank(group.rank(), rows);
        List<Example> training = all.stream().filter(each -> !each.validates).toList();
        List<Example> unseen = all.stream().filter(Example::validates).toList();
        try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            LightGbmDataset data = data(network, training, parameters);
            float[] weights = new float[training.size()];
            for (int row = 0; row < weights.length; row++) {
                weights[row] = (float) training.get(row).weight;
            }
            data.weights(weights);
            LightGbmBooster booster = network.booster(data, parameters);
            int index = booster.addValidation(data.validation(values(unseen), labels(unseen)));
            EarlyStopping stopping = EarlyStopping.whenNotLower(rounds);
            do {
                booster.update();
            } while (!stopping.add(booster.metrics(index)[0]));
            return booster.modelString(stopping.bestIteration());
        }
    }

    private static LightGbmDataset data(LightGbmNetwork network, List<Example> rows, String parameters) {
        return network.dataset(values(rows), FEATURES, labels(rows), parameters);
    }

    private static double[] values(List<Example> rows) {
        return rows.stream()
                .flatMapToDouble(each -> DoubleStream.of(each.features))
                .toArray();
    }

    private static float[] labels(List<Example> rows) {
        float[] labels = new float[rows.size()];
        for (int row = 0; row < labels.length; row++) {
            labels[row] = (float) rows.get(row).label;
        }
        return labels;
    }
}
