package ferro.lightgbm.spark;

import ferro.group.ProcessGroup;
import ferro.lightgbm.LightGbmDataset;
import ferro.lightgbm.LightGbmNetwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;

/** The rows of one rank: those that train, and those that validate. */
final class RankRows {
    /** A group takes more than a century as no deadline. */
    private static final Duration NO_DEADLINE = Duration.ofDays(365L * 200);

    private final TrainingColumns columns;
    private final RowArrays training = new RowArrays();
    private final RowArrays validation = new RowArrays();

    private RankRows(TrainingColumns columns) {
        this.columns = columns;
    }

    /** Reads all rows of a rank. Throws an IllegalArgumentException if a row has no label or another number of features. */
    static RankRows read(Iterator<Row> rows, TrainingColumns columns, int rank) {
        RankRows own = new RankRows(columns);
        int validationAt = columns.weight() == null ? 2 : 3;
        for (long number = 0; rows.hasNext(); number++) {
            Row row = rows.next();
            try {
                boolean validates =
                        columns.validation() != null && !row.isNullAt(validationAt) && row.getBoolean(validationAt);
                RowArrays into = validates ? own.validation : own.training;
                double[] features = FeatureReader.of(row, columns.features());
                own.requireWidth(features.length);
                into.add(
                        features,
                        number(row, 1, columns.label()),
                        columns.weight() == null ? 1 : number(row, 2, columns.weight()));
            } catch (IllegalArgumentException bad) {
                throw new IllegalArgumentException("row " + number + " of rank " + rank + ": " + bad.getMessage(), bad);
            }
        }
        return own;
    }

    private void requireWidth(int features) {
        if (features == 0) {
            throw new IllegalArgumentException("column " + columns.features() + " has no features");
        }
        int before = Math.max(training.columns(), validation.columns());
        if (before > 0 && before != features) {
            throw new IllegalArgumentException("column " + columns.features() + " has " + features
                    + " features, but the rows before it have " + before);
        }
    }

    private static float number(Row row, int at, String column) {
        if (row.isNullAt(at)) {
            throw new IllegalArgumentException("column " + column + " is null");
        }
        return (float) row.getDouble(at);
    }

    /**
     * Checks the rows of all ranks. Ranks that have read their rows wait for the other ranks without a deadline, as tasks
     * of a Spark stage do. A rank that fails or dies ends the wait.
     *
     * <p>If the training is impossible, one rank throws the IllegalArgumentException, and the driver names this rank.
     */
    void requireRowsOnAllRanks(ProcessGroup group) {
        RowCounts.refusal(counts(group), columns.validation()).ifPresent(refusal -> {
            if (group.rank() == refusal.rank()) {
                throw new IllegalArgumentException(refusal.message());
            }
            // the failure of the rank that throws ends this call
            group.barrier();
        });
    }

    private List<RowCounts> counts(ProcessGroup group) {
        int[] own = {training.rows(), validation.rows(), Math.max(training.columns(), validation.columns())};
        int[] all = new int[own.length * group.worldSize()];
        group.within(NO_DEADLINE).allGather(own, all);
        List<RowCounts> counts = new ArrayList<>();
        for (int at = 0; at < all.length; at += own.length) {
            counts.add(new RowCounts(all[at], all[at + 1], all[at + 2]));
        }
        return counts;
    }

    /** Makes LightGBM's data set of the training rows, and releases their memory. */
    LightGbmDataset trainingData(LightGbmNetwork network, String parameters) {
        float[] weights = training.weights();
        LightGbmDataset data =
                network.dataset(training.takeValues(), training.columns(), training.labels(), parameters);
        if (columns.weight() != null) {
            data.weights(weights);
        }
        return data;
    }

    /** Makes LightGBM's data set of the validation rows, with the bins of the training rows, and releases their memory. */
    LightGbmDataset validationData(LightGbmDataset training) {
        return training.validation(validation.takeValues(), validation.labels());
    }
}
