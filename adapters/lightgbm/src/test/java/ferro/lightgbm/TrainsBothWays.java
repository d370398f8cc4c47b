package ferro.lightgbm;

import static ferro.lightgbm.SampleRows.COLUMNS;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A rank that trains models over LightGBM's own sockets, then over its group, and prints for each model how the two differ.
 * The number of rows is the argument.
 */
final class TrainsBothWays {
    private static final int ITERATIONS = 8;

    private TrainsBothWays() {}

    /** The trees of a model as text, and its predictions for this rank's rows. */
    private record Trained(String trees, double[] predictions) {}

    public static void main(String[] arguments) throws Exception {
        int rows = Integer.parseInt(arguments[0]);
        try (ProcessGroup group = ProcessGroup.join()) {
            Map<String, Trained> bySockets = overSockets(group, rows);
            Map<String, Trained> byFerro = new HashMap<>();
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                trainAll(group, rows, byFerro, (samples, parameters) -> booster(network, samples, parameters));
            }
            for (String model : bySockets.keySet()) {
                Trained expected = bySockets.get(model);
                Trained found = byFerro.get(model);
                double largest = 0;
                for (int row = 0; row < expected.predictions.length; row++) {
                    largest = Math.max(largest, Math.abs(expected.predictions[row] - found.predictions[row]));
                }
                System.out.println(
                        "model " + model + (expected.trees.equals(found.trees) ? " equal " : " differs ") + largest);
            }
        }
    }

    private interface Boosters {
        LightGbmBooster make(SampleRows samples, String parameters);
    }

    private static void trainAll(ProcessGroup group, int rows, Map<String, Trained> into, Boosters boosters) {
        for (String learner : List.of("data", "voting")) {
            for (String objective : List.of("regression", "binary", "multiclass")) {
                SampleRows samples = SampleRows.of(objective, rows, group.rank(), group.worldSize());
                String parameters = SampleRows.parameters(objective) + " tree_learner=" + learner;
                try (LightGbmBooster booster = boosters.make(samples, parameters)) {
                    while (booster.iterations() < ITERATIONS && booster.update()) {
                        group.failure().ifPresent(failure -> {
                            throw failure;
                        });
                    }
                    into.put(
                            learner + " " + objective,
                            new Trained(
                                    SampleRows.trees(booster.modelString()),
                                    booster.predict(HostTensor.of(samples.values))));
                }
            }
        }
    }

    private static LightGbmBooster booster(LightGbmNetwork network, SampleRows samples, String parameters) {
        return network.booster(network.dataset(samples.values, COLUMNS, samples.labels, parameters), parameters);
    }

    private static Map<String, Trained> overSockets(ProcessGroup group, int rows) throws IOException {
        Map<String, Trained> models = new HashMap<>();
        try (OwnSockets sockets = OwnSockets.connect(group, InetAddress.getLoopbackAddress())) {
            trainAll(group, rows, models, (samples, parameters) -> {
                LightGbmRows values = LightGbmRows.of(HostTensor.of(samples.values), COLUMNS);
                return sockets.booster(sockets.dataset(values, samples.labels, parameters), parameters);
            });
        }
        return models;
    }
}
