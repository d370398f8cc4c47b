package ferro.lightgbm;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Adds the parameters of the network to a user's parameters, and refuses parameters that contradict the network. */
final class ParameterMerger {
    private static final Set<String> OF_SOCKETS = Set.of(
            "machines",
            "workers",
            "nodes",
            "machine_list_filename",
            "machine_list_file",
            "machine_list",
            "mlist",
            "num_machines",
            "num_machine",
            "local_listen_port",
            "local_port",
            "port",
            "time_out");
    private static final Set<String> TREE_LEARNER = Set.of("tree_learner", "tree", "tree_type", "tree_learner_type");

    /** The parameters that LightGBM reads when it makes bins: the name, the aliases, and the default behind them. */
    private static final List<List<String>> OF_BINS =
            List.of(List.of("max_bin", "max_bins", "255"), List.of("min_data_in_bin", "3"));

    /**
     * The parameters that LightGBM reads in each training: the name, the aliases, and then the default. An earlier alias
     * wins, as in LightGBM.
     */
    private static final List<List<String>> OF_TREES = List.of(
            List.of("objective", "objective_type", "application", "loss", "app", "regression"),
            List.of("boosting", "boosting_type", "boost", "gbdt"),
            List.of("tree_learner", "tree_learner_type", "tree_type", "tree", "data"),
            List.of("num_class", "num_classes", "1"),
            List.of("num_leaves", "max_leaves", "num_leaf", "max_leaf", "31"),
            List.of("learning_rate", "shrinkage_rate", "eta", "0.1"),
            List.of("max_depth", "-1"),
            List.of("min_data_in_leaf", "min_data_per_leaf", "min_child_samples", "min_data", "20"),
            List.of(
                    "min_sum_hessian_in_leaf",
                    "min_sum_hessian_per_leaf",
                    "min_child_weight",
                    "min_sum_hessian",
                    "min_hessian",
                    "0.001"),
            List.of("lambda_l1", "reg_alpha", "l1_regularization", "0"),
            List.of("lambda_l2", "l2_regularization", "reg_lambda", "lambda", "0"),
            List.of("feature_fraction", "colsample_bytree", "sub_feature", "1"),
            List.of("bagging_fraction", "subsample", "sub_row", "bagging", "1"));

    /** Other names of values. */
    private static final Map<String, String> SAME_VALUES = Map.ofEntries(
            Map.entry("regression_l2", "regression"),
            Map.entry("mean_squared_error", "regression"),
            Map.entry("mse", "regression"),
            Map.entry("l2", "regression"),
            Map.entry("l2_root", "regression"),
            Map.entry("root_mean_squared_error", "regression"),
            Map.entry("rmse", "regression"),
            Map.entry("l1", "regression_l1"),
            Map.entry("mean_absolute_error", "regression_l1"),
            Map.entry("mae", "regression_l1"),
            Map.entry("softmax", "multiclass"),
            Map.entry("multiclass_ova", "multiclassova"),
            Map.entry("ova", "multiclassova"),
            Map.entry("ovr", "multiclassova"),
            Map.entry("xentropy", "cross_entropy"),
            Map.entry("gbrt", "gbdt"),
            Map.entry("random_forest", "rf"),
            Map.entry("data_parallel", "data"),
            Map.entry("voting_parallel", "voting"));

    private ParameterMerger() {}

    /** Returns the parameters for LightGBM. The tree learner of more than one rank is data-parallel by default. */
    static String of(String parameters, int worldSize) {
        boolean hasLearner = false;
        for (Map.Entry<String, String> one : split(parameters).entrySet()) {
            if (OF_SOCKETS.contains(one.getKey())) {
                throw new IllegalArgumentException("LightGBM parameter " + one.getKey() + "=" + one.getValue()
                        + " is for LightGBM's own sockets: remove it; the group has the ranks");
            }
            if (TREE_LEARNER.contains(one.getKey())) {
                hasLearner = true;
                requireParallel(one, worldSize);
            }
        }
        String learner = worldSize == 1 || hasLearner ? "" : " tree_learner=data";
        return parameters + learner + (worldSize == 1 ? "" : " num_machines=" + worldSize);
    }

    /** Returns the parameters of bins that must be equal on all ranks, in one form, with defaults. */
    static List<String> ofBins(String parameters) {
        return comparable(OF_BINS, parameters);
    }

    /** Returns the parameters of trees that must be equal on all ranks, in one form, with defaults. */
    static List<String> ofTrees(String parameters) {
        return comparable(OF_TREES, parameters);
    }

    private static List<String> comparable(List<List<String>> compared, String parameters) {
        Map<String, String> given = split(parameters);
        return compared.stream()
                .map(names -> names.get(0) + "="
                        + names.subList(0, names.size() - 1).stream()
                                .filter(given::containsKey)
                                .findFirst()
                                .map(given::get)
                                .map(ParameterMerger::comparable)
                                .orElseGet(() -> comparable(names.get(names.size() - 1))))
                .toList();
    }

    private static String comparable(String value) {
        try {
            double number = Double.parseDouble(value);
            return number == Math.rint(number) && Math.abs(number) < 1e15 ? (long) number + "" : number + "";
        } catch (NumberFormatException text) {
            return SAME_VALUES.getOrDefault(value, value);
        }
    }

    private static void requireParallel(Map.Entry<String, String> learner, int worldSize) {
        if (worldSize > 1 && learner.getValue().startsWith("serial")) {
            throw new IllegalArgumentException("LightGBM parameter " + learner.getKey() + "=" + learner.getValue()
                    + " trains a model of its own on each of " + worldSize + " ranks: use data or voting");
        }
        if (learner.getValue().startsWith("feature")) {
            throw new IllegalArgumentException("LightGBM parameter " + learner.getKey() + "=" + learner.getValue()
                    + ": LightGBM's C library has no feature-parallel training: use data or voting");
        }
    }

    private static Map<String, String> split(String parameters) {
        Map<String, String> pairs = new TreeMap<>();
        for (String pair : parameters.trim().split("\\s+")) {
            int equals = pair.indexOf('=');
            if (equals < 1 && !pair.isEmpty()) {
                throw new IllegalArgumentException(
                        "LightGBM parameters need the form \"name=value name=value\", found \"" + pair + "\"");
            }
            if (!pair.isEmpty()) {
                pairs.putIfAbsent(pair.substring(0, equals), pair.substring(equals + 1));
            }
        }
        return pairs;
    }
}
