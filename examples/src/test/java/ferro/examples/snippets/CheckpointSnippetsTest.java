package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.Termination;
import ferro.training.checkpoint.CheckpointSettings;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.Resume;
import ferro.training.checkpoint.StateSlice;
import ferro.training.checkpoint.TrainingState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointSnippetsTest {
    @TempDir
    private Path folder;

    /** A model of six weights. Each of two ranks has half of the averages, or a single rank has all of them. */
    private record Model(HostTensor weight, HostTensor average, long from) {
        static Model on(ProcessGroup group) {
            long own = 6 / group.worldSize();
            return new Model(
                    HostTensor.of(new float[6]), HostTensor.allocate(DataType.FLOAT32, own), own * group.rank());
        }

        void train() {
            for (int index = 0; index < weight.elementCount(); index++) {
                weight.setFloat(index, weight.getFloat(index) + 1 + index);
            }
            for (int index = 0; index < average.elementCount(); index++) {
                average.setFloat(index, weight.getFloat(from + index) / 2);
            }
        }
    }

    @Test
    void aJobContinuesFromItsLatestCheckpointOnAnotherNumberOfRanks() {
        SimulatedBackend.run(2, group -> assertEquals(20, trained(group, Model.on(group), 20)));
        SimulatedBackend.run(1, group -> {
            Model model = Model.on(group);
            assertEquals(20, trained(group, model, 20));
            assertEquals(20 * 6, model.weight.getFloat(5));
            assertEquals(20 * 6 / 2, model.average.getFloat(5));
        });
    }

    private long trained(ProcessGroup group, Model model, long last) {
        // @start region="checkpoints"
        NamedTensor weight = NamedTensor.of("dense.weight", model.weight(), 2, 3);
        StateSlice average = StateSlice.of("exp_avg", "dense.weight", model.from(), model.average());
        TrainingState state = TrainingState.of(List.of(weight)).withSlices(List.of(average));
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(3);
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder), settings)) {
            long step =
                    checkpoints.latest().isPresent() ? checkpoints.load(state).step() : 0;
            while (step < last) {
                model.train();
                step++;
                checkpoints.check(); // throws if a save in the background has failed
                if (step % 10 == 0) {
                    checkpoints.saveAsync(step, state.withMetadata(Map.of("epoch", "1")));
                }
            }
            return step;
        }
        // @end
    }

    @Test
    void aTrainingBeginsOrContinuesByOneCall() {
        for (long last : new long[] {5, 9}) {
            SimulatedBackend.run(2, group -> {
                Model model = Model.on(group);
                resumed(group, model, last);
                assertEquals(last * 6, model.weight.getFloat(5));
            });
        }
    }

    private void resumed(ProcessGroup group, Model model, long last) {
        TrainingState state = TrainingState.of(List.of(NamedTensor.of("dense.weight", model.weight(), 2, 3)));
        // @start region="resume"
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            long step = Resume.from(checkpoints, state).step(); // 0 at the first start
            while (step < last) {
                model.train();
                step++;
                checkpoints.saveAsync(step, state);
            }
        }
        // @end
    }

    @Test
    void aJobEndsAfterItsLastStep() {
        SimulatedBackend.run(1, group -> {
            Model model = Model.on(group);
            NamedTensor weight = NamedTensor.of("dense.weight", model.weight(), 2, 3);
            TrainingState state = TrainingState.of(List.of(weight));
            long last = 5;
            // @start region="termination"
            Termination termination = Termination.onSigterm(Duration.ofSeconds(60));
            try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                long step = 0;
                do {
                    model.train();
                    step++;
                } while (step < last && !termination.agreed(group));
                checkpoints.save(step, state);
            }
            termination.exit(); // with code 143 after SIGTERM; else it returns
            // @end
            assertEquals(5 * 6, model.weight.getFloat(5));
        });
    }
}
