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
                double[] features = Features.of(row, columns.features());
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
     * Checks that each rank has rows, and that all rows have as many features. LightGBM refuses a data set without rows.
     * If the ranks have different numbers of features, LightGBM ends the process by SIGSEGV.
     *
     * <p>Ranks that have read their rows wait for the other ranks without a deadline, as tasks of a Spark stage do. A rank
     * that fails or dies ends the wait.
     *
     * <p>Of the ranks at fault only the first one throws the IllegalArgumentException, so that the driver names that rank.
     */
    void requireRowsOnAllRanks(ProcessGroup group) {
        int[] own = {training.rows(), validation.rows(), Math.max(training.columns(), validation.columns())};
        int[] all = new int[own.length * group.worldSize()];
        group.within(NO_DEADLINE).allGather(own, all);
        int features = features(all, own.length);
        List<Integer> atFault = new ArrayList<>();
        for (int rank = 0; rank < group.worldSize(); rank++) {
            int at = rank * own.length;
            boolean lacksRows = all[at] == 0 || columns.validation() != null && all[at + 1] == 0;
            if (lacksRows || all[at + 2] != features) {
                atFault.add(rank);
            }
        }
        if (atFault.isEmpty()) {
            return;
        }
        if (group.rank() == atFault.get(0)) {
            throw new IllegalArgumentException(fault(own, features, atFault));
        }
        // the failure of the rank at fault ends this call
        group.barrier();
    }

    /** Returns how many features the rows of the first rank with rows have. */
    private static int features(int[] all, int perRank) {
        for (int at = 2; at < all.length; at += perRank) {
            if (all[at] > 0) {
                return all[at];
            }
        }
        return 0;
    }

    private String fault(int[] own, int features, List<Integer> atFault) {
        String others = atFault.size() == 1 ? "" : " (ranks at fault: " + atFault + ")";
        if (own[0] == 0) {
            return "the partition has no rows for training, but LightGBM needs a row on each rank: use fewer ranks"
                    + " (FerroSpark.ranks), or repartition the Dataset" + others;
        }
        if (columns.validation() != null && own[1] == 0) {
            return "the partition has no row whose column " + columns.validation()
                    + " is true, but early stopping needs" + " a validation row on each rank: repartition the Dataset"
                    + others;
        }
        return "the rows have " + own[2] + " features, but those of other ranks have " + features + others;
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
