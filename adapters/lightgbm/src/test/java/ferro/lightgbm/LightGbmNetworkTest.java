package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of training with ranks that are threads of this JVM: LightGBM keeps its network per thread. */
class LightGbmNetworkTest {
    private static final int ROWS = 1200;
    private static final int ITERATIONS = 6;
    private static final String BINARY = SampleRows.parameters("binary");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void allRanksHaveTheSameTrees(int ranks) {
        List<String> models = SimulatedBackend.runAll(ranks, group -> train(group, BINARY));

        assertEquals(1, Set.copyOf(models).size());
        assertTrue(models.get(0).contains("Tree=" + (ITERATIONS - 1)), models.get(0));
    }

    @Test
    void ranksWithOtherNumbersOfColumnsAreNamedOnAllRanks() {
        assertRefusedOnAllRanks(
                3,
                network -> {
                    int columns = network.group().rank() == 1 ? 4 : 3;
                    network.dataset(new double[12 * columns], columns, new float[12], "");
                },
                "data set: ranks [0, 2]: columns=3; rank 1: columns=4: pass the same value on all ranks");
    }

    @Test
    void aRankWithoutRowsIsNamedOnAllRanks() {
        assertRefusedOnAllRanks(
                3,
                network -> network.dataset(values(network, 1), 3, labels(network, 1), BINARY),
                "data set: rank 1: found 0 rows, need at least 1: give each rank a part of the rows, or start fewer ranks");
        assertRefusedOnAllRanks(
                2,
                network -> network.dataset(
                        values(network, 2), 3, new float[4 - network.group().rank()], BINARY),
                "data set: rank 1: need one of labels per row, found 3 for 4 rows");
    }

    @Test
    void validationDataWithoutRowsIsRefused() {
        assertRefusedOnAllRanks(
                2,
                network -> network.dataset(values(network, 2), 3, labels(network, 2), BINARY)
                        .validation(values(network, 0), labels(network, 0)),
                "validation data: rank 0: found 0 rows, need at least 1: give each rank a part of the rows, or start fewer"
                        + " ranks");
    }

    @Test
    void parametersThatDifferAreNamedOnAllRanks() {
        assertRefusedOnAllRanks(
                3,
                network -> network.dataset(
                        values(network, 9),
                        3,
                        labels(network, 9),
                        network.group().rank() == 2 ? "max_bin=63" : ""),
                "data set: ranks [0, 1]: max_bin=255; rank 2: max_bin=63: pass the same value on all ranks");
        assertRefusedOnAllRanks(
                2,
                network -> network.booster(
                        network.dataset(values(network, 9), 3, labels(network, 9), BINARY),
                        network.group().rank() == 0 ? "objective=binary" : "objective=binary eta=0.2"),
                "booster: rank 0: learning_rate=0.1; rank 1: learning_rate=0.2: pass the same value on all ranks");
    }

    static Stream<Arguments> likeBinary() {
        String two = BINARY.replace("num_threads=1", "num_threads=2");
        String other = BINARY.replace("num_leaves=15", "max_leaves=15 learning_rate=.1 boosting=gbrt")
                .replace("min_data_in_leaf=5", "min_child_samples=5 max_bin=255 tree_learner=data_parallel");
        return Stream.of(Arguments.of(BINARY, other), Arguments.of(BINARY, two), Arguments.of(two, two));
    }

    @ParameterizedTest
    @MethodSource("likeBinary")
    void parametersThatDoNotAffectTheModelMayDiffer(String first, String second) {
        List<String> models = SimulatedBackend.runAll(2, group -> train(group, group.rank() == 0 ? first : second));

        assertEquals(SimulatedBackend.runAll(2, group -> train(group, BINARY)), models);
    }

    /** Returns four rows of three values; none on a rank without rows. */
    private static double[] values(LightGbmNetwork network, int rankWithoutRows) {
        return new double[network.group().rank() == rankWithoutRows ? 0 : 12];
    }

    private static float[] labels(LightGbmNetwork network, int rankWithoutRows) {
        return new float[network.group().rank() == rankWithoutRows ? 0 : 4];
    }

    private static void assertRefusedOnAllRanks(int ranks, Consumer<LightGbmNetwork> call, String text) {
        SimulatedBackend.run(ranks, group -> {
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                IllegalArgumentException refused =
                        assertThrows(IllegalArgumentException.class, () -> call.accept(network));
                assertEquals("LightGBM " + text, refused.getMessage());
                group.barrier();
            }
        });
    }

    private static String train(ProcessGroup group, String parameters) {
        SampleRows rows = SampleRows.of("binary", ROWS, group.rank(), group.worldSize());
        try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            CallCounters untrained = group.counters();
            while (booster.iterations() < ITERATIONS && booster.update()) {
                CallCounters calls = group.counters().minus(untrained);
                boolean communicates = group.worldSize() > 1;
                assertEquals(communicates, calls.of(CollectiveKind.ALL_GATHER).calls() > 0);
                assertEquals(communicates, calls.of(CollectiveKind.ALL_TO_ALL).calls() > 0);
            }
            return SampleRows.trees(booster.modelString());
        }
    }

    @Test
    void rowsOfFloatsDoublesAndDirectBuffersGiveTheSameTrees() {
        SampleRows rows = SampleRows.of("binary", ROWS, 0, 1);
        float[] floats = new float[rows.values.length];
        float[] shifted = new float[rows.values.length + 3];
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(floats.length * Double.BYTES).order(ByteOrder.nativeOrder());
        for (int at = 0; at < floats.length; at++) {
            floats[at] = (float) rows.values[at];
            shifted[at + 1] = floats[at];
            rows.values[at] = floats[at];
            bytes.putDouble(at * Double.BYTES, floats[at]);
        }
        String model = trained(HostTensor.of(rows.values), rows.labels);

        assertEquals(model, trained(HostTensor.of(floats), rows.labels));
        assertEquals(model, trained(HostTensor.of(DataType.FLOAT64, bytes), rows.labels));
        assertEquals(model, trained(HostTensor.of(DataType.FLOAT32, shifted, 1, floats.length), rows.labels));
    }

    private static String trained(HostTensor rows, float[] labels) {
        try (ProcessGroup alone = alone();
                LightGbmNetwork network = LightGbmNetwork.connect(alone)) {
            LightGbmBooster booster =
                    network.booster(network.dataset(rows, SampleRows.COLUMNS, labels, BINARY), BINARY);
            booster.update();
            double[] predictions = booster.predict(rows);
            assertEquals(labels.length, predictions.length);
            return booster.modelString() + predictions[0] + predictions[labels.length - 1];
        }
    }

    private static ProcessGroup alone() {
        return ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
    }

    @Test
    void weightsChangeTheTrees() {
        List<String> equal = SimulatedBackend.runAll(2, group -> weighted(group, 1));

        assertEquals(equal, SimulatedBackend.runAll(2, group -> train(group, BINARY)));
        assertNotEquals(equal, SimulatedBackend.runAll(2, group -> weighted(group, 5)));
    }

    private static String weighted(ProcessGroup group, float weight) {
        SampleRows rows = SampleRows.of("binary", ROWS, group.rank(), group.worldSize());
        float[] weights = new float[rows.labels.length];
        for (int row = 0; row < weights.length; row++) {
            weights[row] = row % 3 == 0 ? weight : 1;
        }
        try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, BINARY);
            data.weights(weights);
            LightGbmBooster booster = network.booster(data, BINARY);
            while (booster.iterations() < ITERATIONS && booster.update()) {
                assertEquals(rows.labels.length, data.rows());
            }
            return SampleRows.trees(booster.modelString());
        }
    }

    /** The validation rows of the ranks differ in number, so that a mean without weights would be wrong. */
    @Test
    void aMetricIsThatOfAllRowsAndStopsAllRanks() {
        String parameters = SampleRows.parameters("regression") + " metric=l2 learning_rate=0.9";
        List<double[]> ended = SimulatedBackend.runAll(2, group -> stoppedEarly(group, parameters));

        assertArrayEquals(ended.get(0), ended.get(1));
        double[] all = ended.get(0);
        int best = (int) all[all.length - 2];
        assertEquals(best + 3, all.length - 3, "iterations until 3 were not better");
        assertEquals(all[best - 1], all[all.length - 3], 1e-12, "mean square of the predictions of the best iteration");
    }

    /** Returns the metric of each iteration, the mean square of the predictions, the best iteration, and its length. */
    private static double[] stoppedEarly(ProcessGroup group, String parameters) {
        SampleRows rows = SampleRows.of("regression", ROWS, group.rank(), group.worldSize());
        SampleRows unseen = SampleRows.unseen("regression", 900, group.rank() == 0 ? 0 : 2, 3);
        double[] metrics = new double[0];
        try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, parameters);
            LightGbmBooster booster = network.booster(data, parameters);
            double[] validationRows = group.rank() == 0 ? unseen.values : Arrays.copyOf(unseen.values, 80);
            float[] validationLabels = Arrays.copyOf(unseen.labels, validationRows.length / SampleRows.COLUMNS);
            int validation = booster.addValidation(data.validation(validationRows, validationLabels));
            EarlyStopping stopping = EarlyStopping.whenNotLower(3);
            boolean isOver = false;
            while (!isOver && booster.update()) {
                double metric = booster.metrics(validation)[0];
                metrics = Arrays.copyOf(metrics, metrics.length + 1);
                metrics[metrics.length - 1] = metric;
                isOver = stopping.add(metric);
            }
            double[] sums = {0, validationLabels.length};
            double[] predicted = booster.predict(HostTensor.of(validationRows), stopping.bestIteration());
            for (int row = 0; row < predicted.length; row++) {
                sums[0] += Math.pow(predicted[row] - validationLabels[row], 2);
            }
            group.allReduce(sums, ReduceOp.SUM);
            String best = booster.modelString(stopping.bestIteration());
            assertTrue(best.contains("Tree=" + (stopping.bestIteration() - 1) + "\n"), best);
            assertTrue(!best.contains("Tree=" + stopping.bestIteration() + "\n"), best);
            int length = metrics.length;
            double[] all = Arrays.copyOf(metrics, length + 3);
            all[length] = sums[0] / sums[1];
            all[length + 1] = stopping.bestIteration();
            all[length + 2] = length;
            return all;
        }
    }

    @Test
    void aCallFromAnotherThreadIsRefused() {
        try (ProcessGroup alone = alone();
                LightGbmNetwork network = LightGbmNetwork.connect(alone)) {
            LightGbmBooster booster = booster(network);

            Throwable refused = assertThrows(
                            ExecutionException.class,
                            () -> CompletableFuture.runAsync(booster::update).get())
                    .getCause();

            assertEquals(IllegalStateException.class, refused.getClass());
            assertTrue(refused.getMessage().contains("LightGBM keeps its network per thread"), refused.getMessage());
            assertTrue(booster.update());
        }
    }

    private static LightGbmBooster booster(LightGbmNetwork network) {
        SampleRows rows = SampleRows.of("binary", ROWS, 0, 1);
        return network.booster(network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, BINARY), BINARY);
    }

    @Test
    void callsOnClosedObjectsAreRefused() {
        try (ProcessGroup alone = alone()) {
            LightGbmNetwork network = LightGbmNetwork.connect(alone);
            LightGbmBooster booster = booster(network);
            LightGbmBooster closed = booster(network);
            closed.close();
            closed.close();

            assertThrows(IllegalStateException.class, closed::modelString);
            booster.update();
            network.close();
            network.close();

            IllegalStateException refused = assertThrows(IllegalStateException.class, booster::modelString);
            assertTrue(refused.getMessage().contains("network of rank 0 is closed"), refused.getMessage());
        }
    }

    @Test
    void wrongSizesAndSocketParametersAreRefused() {
        SimulatedBackend.run(2, group -> {
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                double[] four = {1, 2, 3, 4};
                float[] two = {0, 1};
                assertRefused(network, four, 3, two, BINARY, "4 values are no rows of 3 columns");
                assertRefused(network, four, 1, two, BINARY, "found 2 for 4 rows");
                assertRefused(network, four, 2, two, "machines=a:1,b:2", "machines=a:1,b:2 is for LightGBM's own");
                assertRefused(network, four, 2, two, "num_machines=2", "num_machines=2 is for LightGBM's own");
                assertRefused(network, four, 2, two, "tree_learner=serial", "a model of its own on each of 2 ranks");
                assertRefused(network, four, 2, two, "tree_learner=feature", "has no feature-parallel training");
                assertRefused(network, four, 2, two, "objective binary", "found \"objective\"");
            }
        });
    }

    private static void assertRefused(
            LightGbmNetwork network, double[] rows, int columns, float[] labels, String... parametersAndText) {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> network.dataset(rows, columns, labels, parametersAndText[0]));
        assertTrue(refused.getMessage().contains(parametersAndText[1]), refused.getMessage());
    }

    /** Rank 1 waits. LightGBM checks this parameter, which the ranks do not compare, before it communicates. */
    @Test
    void anErrorOfLightGbmOnOneRankEndsTheGroup() {
        SimulatedBackend.run(2, group -> {
            SampleRows rows = SampleRows.of("binary", ROWS, group.rank(), 2);
            try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
                LightGbmDataset data = network.dataset(rows.values, SampleRows.COLUMNS, rows.labels, BINARY);
                FerroException failure = assertThrows(FerroException.class, () -> {
                    if (group.rank() == 0) {
                        network.booster(data, BINARY + " min_gain_to_split=-1");
                    } else {
                        network.booster(data, BINARY);
                        group.barrier();
                    }
                });
                assertTrue(failure.getMessage().contains("min_gain_to_split"), failure.getMessage());
                if (group.rank() == 0) {
                    assertEquals(FerroException.Code.NATIVE, failure.code());
                    assertTrue(failure.getMessage().contains("on rank 0 of 2, host "), failure.getMessage());
                }
            }
        });
    }
}
