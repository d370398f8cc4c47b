package ferro.lightgbm.spark;

import java.io.Serializable;

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
}
