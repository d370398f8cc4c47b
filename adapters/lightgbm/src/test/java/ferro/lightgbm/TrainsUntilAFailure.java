package ferro.lightgbm;

import ferro.FerroException;
import ferro.group.ProcessGroup;

/** A rank that prints each iteration, trains until the group fails, and then tries to read the model. */
final class TrainsUntilAFailure {
    private static final int ROWS = 900;

    private TrainsUntilAFailure() {}

    public static void main(String[] arguments) {
        String parameters = SampleRows.parameters("regression");
        try (ProcessGroup group = ProcessGroup.join();
                LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            SampleRows rows = SampleRows.of("regression", ROWS, group.rank(), group.worldSize());
            LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            try {
                while (booster.update()) {
                    System.out.println("iteration " + booster.iterations());
                }
            } catch (FerroException failure) {
                System.out.println("culprits " + failure.where().culprits());
                System.out.println("failed " + failure.code() + " " + failure.getMessage());
            }
            try {
                System.out.println("model " + booster.modelString());
            } catch (FerroException refused) {
                System.out.println("refused " + refused.getMessage());
            }
        }
    }
}
