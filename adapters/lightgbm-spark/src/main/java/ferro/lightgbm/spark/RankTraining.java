package ferro.lightgbm.spark;

import ferro.lightgbm.EarlyStopping;
import ferro.lightgbm.LightGbmBooster;
import ferro.lightgbm.LightGbmDataset;
import ferro.lightgbm.LightGbmNetwork;
import ferro.spark.rank.RankFunction;
import ferro.spark.rank.SparkRank;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;

/** The training of one rank. All of it runs on the thread of the task, where LightGBM keeps its network. */
final class RankTraining implements RankFunction<Row, String> {
    private static final long serialVersionUID = 1L;

    private final TrainingPlan plan;

    RankTraining(TrainingPlan plan) {
        this.plan = plan;
    }

    /** Returns the model on rank 0, and null on the others. */
    @Override
    public String run(SparkRank rank, Iterator<Row> rows) {
        RankRows own = RankRows.read(rows, plan.columns(), rank.group().rank());
        own.requireRowsOnAllRanks(rank.group());
        String parameters = plan.parameters(TaskContext.get().cpus());
        try (LightGbmNetwork network = LightGbmNetwork.connect(rank.group())) {
            LightGbmDataset data = own.trainingData(network, parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            int best = plan.stopsEarly()
                    ? trainedUntilBest(rank, booster, own.validationData(data))
                    : trained(rank, booster);
            return rank.group().rank() == 0 ? booster.modelString(best) : null;
        }
    }

    private int trained(SparkRank rank, LightGbmBooster booster) {
        while (booster.iterations() < plan.iterations() && booster.update()) {
            rank.progress(booster.iterations(), Map.of());
        }
        return booster.iterations();
    }

    /** Returns the number of iterations of the best model, which is the same on all ranks. */
    private int trainedUntilBest(SparkRank rank, LightGbmBooster booster, LightGbmDataset validation) {
        int index = booster.addValidation(validation);
        EarlyStopping stopping = plan.stopping();
        boolean isOver = false;
        while (!isOver && booster.iterations() < plan.iterations() && booster.update()) {
            double[] metrics = booster.metrics(index);
            if (metrics.length == 0) {
                throw new IllegalArgumentException(
                        "early stopping needs a metric, but these parameters name none: " + plan.ofUser());
            }
            rank.progress(booster.iterations(), Map.of("metric", metrics[0]));
            isOver = stopping.add(metrics[0]);
        }
        return stopping.bestIteration() == 0 ? booster.iterations() : stopping.bestIteration();
    }
}
