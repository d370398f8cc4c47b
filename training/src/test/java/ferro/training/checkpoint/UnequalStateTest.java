package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Ranks that hold different values of one tensor cannot save: the files would mix the ranks. */
class UnequalStateTest {
    private static final int RANKS = 4;

    private final MemoryStorage storage = new MemoryStorage();

    /** Returns the message that each rank gets when it saves step 1; the group saves step 2 afterwards. */
    private List<String> refused(Save save, BiFunction<ProcessGroup, Boolean, TrainingState> model) {
        return Ranks.run(Medium.SIMULATED, RANKS, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                CheckpointException refused = assertThrows(
                        CheckpointException.class, () -> save.save(checkpoints, 1, model.apply(group, true)));
                assertTrue(checkpoints.latest().isEmpty());
                checkpoints.save(2, model.apply(group, false));
                return refused.getMessage().replaceAll("hash [0-9a-f]+", "hash #");
            }
        });
    }

    private interface Save {
        void save(Checkpoints checkpoints, long step, TrainingState state);
    }

    private static TrainingState unequalParameter(ProcessGroup group, boolean isUnequal) {
        ToyModel model = ToyModel.on(group.rank(), RANKS).fill(1);
        if (isUnequal && group.rank() == 2) {
            model.parameters.get(1).values().setDouble(3, -0.5);
        }
        return model.state();
    }

    /** Ranks 1 and 3 have the same half of a state; ranks 0 and 2 have the other one. */
    private static TrainingState unequalSlice(ProcessGroup group, boolean isUnequal) {
        HostTensor half = HostTensor.allocate(DataType.FLOAT32, 2);
        half.setFloat(1, isUnequal && group.rank() == 3 ? 7 : 5);
        NamedTensor weight = ToyModel.tensor("weight", DataType.FLOAT32, 4);
        StateSlice slice = StateSlice.of("exp_avg", "weight", group.rank() % 2 * 2, half);
        return TrainingState.of(List.of(weight)).withSlices(List.of(slice));
    }

    @Test
    void aDifferentParameterIsNamedWithItsRanks() {
        String expected = "saving step 1 failed: ranks hold different values in 1 of 6 tensors: "
                + "\"dense.weight\" is hash # on ranks 0, 1, 3, but hash # on rank 2";
        refused(Checkpoints::save, UnequalStateTest::unequalParameter)
                .forEach(messages -> assertReported(expected, messages));
    }

    @Test
    void differentSettingsAreNamed() {
        List<String> messages = Ranks.run(Medium.SIMULATED, RANKS, group -> {
            CheckpointSettings settings = CheckpointSettings.DEFAULT.withCompareRanks(group.rank() != 2);
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, settings)) {
                return assertThrows(
                                CheckpointException.class, () -> checkpoints.save(1, unequalParameter(group, false)))
                        .getMessage();
            }
        });
        String expected = "ranks save with different settings: rank 0 with keepLast 0 and compareRanks true, "
                + "rank 2 with keepLast 0 and compareRanks false";
        messages.forEach(each -> assertEquals(expected, each));
    }

    @Test
    void aBackgroundSaveComparesRanks() {
        refused(Checkpoints::saveAsync, UnequalStateTest::unequalParameter)
                .forEach(messages -> assertTrue(messages.contains("\"dense.weight\""), messages));
    }

    @Test
    void stateOnSeveralRanksIsComparedAmongThem() {
        String expected = "saving step 1 failed: ranks hold different values in 1 of 3 tensors: "
                + "\"state exp_avg/weight@2\" is hash # on rank 1, but hash # on rank 3";
        refused(Checkpoints::save, UnequalStateTest::unequalSlice)
                .forEach(messages -> assertReported(expected, messages));
    }

    /** Rank 1 has its half of a state twice. */
    private static TrainingState sliceTwice(ProcessGroup group, boolean isUnequal) {
        TrainingState once = unequalSlice(group, false);
        if (group.rank() != 1 || !isUnequal) {
            return once;
        }
        HostTensor other = HostTensor.allocate(DataType.FLOAT32, 2);
        List<StateSlice> slices = new ArrayList<>(once.slices());
        slices.add(StateSlice.of("exp_avg", "weight", 2, other));
        return once.withSlices(slices);
    }

    @Test
    void twoSlicesOfOneRangeOnOneRankAreRefused() {
        String expected = "two of 2 slices have the same range: state exp_avg of \"weight\", elements 2 to 3";
        for (String message : refused(Checkpoints::save, UnequalStateTest::sliceTwice)) {
            assertTrue(message.startsWith("saving step 1 failed: rank 1 on host "), message);
            assertTrue(message.endsWith(expected), message);
        }
    }

    @Test
    void withoutComparisonDifferentValuesAreSaved() {
        Ranks.run(Medium.SIMULATED, RANKS, group -> {
            CheckpointSettings settings = CheckpointSettings.DEFAULT.withCompareRanks(false);
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, settings)) {
                checkpoints.save(1, unequalParameter(group, true));
                assertEquals(1, checkpoints.latest().orElseThrow().step());
                return null;
            }
        });
    }

    private static void assertReported(String expected, String message) {
        assertTrue(message.startsWith(expected), message);
    }
}
