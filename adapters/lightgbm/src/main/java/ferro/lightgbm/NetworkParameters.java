package ferro.lightgbm;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Adds the parameters of the network to a user's parameters, and refuses parameters that contradict the network. */
final class NetworkParameters {
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

    private NetworkParameters() {}

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
                pairs.put(pair.substring(0, equals), pair.substring(equals + 1));
            }
        }
        return pairs;
    }
}
