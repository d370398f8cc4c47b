package ferro.lightgbm.spark;

import ferro.lightgbm.EarlyStopping;
import java.io.Serializable;
import java.util.Map;
import java.util.Set;

/** What the driver tells each rank about the training. */
final class TrainingPlan implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final Set<String> THREADS = Set.of("num_threads", "num_thread", "nthread", "nthreads", "n_jobs");
    private static final Set<String> ITERATIONS = Set.of(
            "num_iterations",
            "num_iteration",
            "n_iter",
            "num_tree",
            "num_trees",
            "num_round",
            "num_rounds",
            "nrounds",
            "num_boost_round",
            "n_estimators",
            "max_iter");
    private static final Set<String> STOPPING =
            Set.of("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change");

    /** The parameters of this class that a method of the trainer sets, with the method. */
    private static final Map<Set<String>, String> OF_TRAINER = Map.of(
            ITERATIONS, ".iterations(n)", STOPPING, ".stopWhenNotLower(column, n) or .stopWhenNotHigher(column, n)");

    private final TrainingColumns columns;
    private final int iterations;
    /** Null without early stopping. */
    private final EarlyStoppingRule stopping;

    private final String parameters;
    private final boolean hasThreads;

    private TrainingPlan(
            TrainingColumns columns,
            int iterations,
            EarlyStoppingRule stopping,
            String parameters,
            boolean hasThreads) {
        this.columns = columns;
        this.iterations = iterations;
        this.stopping = stopping;
        this.parameters = parameters;
        this.hasThreads = hasThreads;
    }

    /** Refuses parameters that LightGBM's C library would ignore, because the trainer makes the iterations. */
    static TrainingPlan of(TrainingColumns columns, int iterations, EarlyStoppingRule stopping, String parameters) {
        boolean hasThreads = false;
        for (String pair : parameters.trim().split("\\s+")) {
            String name = pair.replaceFirst("=.*", "");
            hasThreads |= THREADS.contains(name);
            OF_TRAINER.forEach((names, method) -> {
                if (names.contains(name)) {
                    throw new IllegalArgumentException(
                            "LightGBM parameter " + pair + " has no effect here: remove it and call " + method);
                }
            });
        }
        return new TrainingPlan(columns, iterations, stopping, parameters, hasThreads);
    }

    TrainingColumns columns() {
        return columns;
    }

    int iterations() {
        return iterations;
    }

    boolean stopsEarly() {
        return stopping != null;
    }

    /** Returns the early stopping of one rank. */
    EarlyStopping stopping() {
        return stopping.start();
    }

    /** Returns the parameters as the user has passed them. */
    String ofUser() {
        return parameters;
    }

    /** Returns LightGBM's parameters. Without {@code num_threads}, LightGBM would use all cores of the host in each task. */
    String parameters(int cpusOfTask) {
        return hasThreads ? parameters : parameters + " num_threads=" + cpusOfTask;
    }
}
