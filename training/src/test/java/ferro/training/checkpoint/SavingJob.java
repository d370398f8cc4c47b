package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** The ranks of a job, and the checkpoints of each. */
final class SavingJob implements AutoCloseable {
    private static final CheckpointSettings TWO_STAY = CheckpointSettings.DEFAULT.withKeepLast(2);

    private final Ranks ranks;
    private final List<Checkpoints> checkpoints;

    SavingJob(Medium over, int worldSize, CheckpointStorage storage, String host) {
        this(over, worldSize, storage, host, 0);
    }

    /** Opens the ranks of a job that has been started again so many times; over a medium that joins. */
    SavingJob(Medium over, int worldSize, CheckpointStorage storage, String host, int generation) {
        ranks = Ranks.over(over, worldSize, Map.of("FERRO_GENERATION", "" + generation));
        checkpoints = ranks.all(group -> Checkpoints.open(group, storage, TWO_STAY, host));
    }

    /** What a rank does with a model of zeros and with its checkpoints. */
    interface Saving {
        void run(ProcessGroup group, ToyModel model, Checkpoints checkpoints) throws Exception;
    }

    static void each(int worldSize, CheckpointStorage storage, Saving saving) {
        each(worldSize, storage, CheckpointSettings.DEFAULT, saving);
    }

    /** Opens checkpoints on as many simulated ranks, and runs something on each. */
    static void each(int worldSize, CheckpointStorage storage, CheckpointSettings settings, Saving saving) {
        Ranks.each(Medium.SIMULATED, worldSize, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, settings)) {
                saving.run(group, ToyModel.on(group.rank(), worldSize), checkpoints);
            }
        });
    }

    /** Returns what the save throws on each rank; null where it throws nothing. */
    List<Throwable> failures(long step) {
        return ranks.failures(group -> save(group, step));
    }

    void save(long step) {
        ranks.each(group -> save(group, step));
    }

    private void save(ProcessGroup group, long step) {
        ToyModel model = ToyModel.on(group.rank(), group.worldSize()).fill(step);
        checkpoints.get(group.rank()).save(step, model.state());
    }

    String refusal(long step) {
        List<Throwable> failures = failures(step);
        String first =
                assertInstanceOf(CheckpointException.class, failures.get(0)).getMessage();
        for (Throwable failure : failures) {
            assertEquals(
                    first, assertInstanceOf(CheckpointException.class, failure).getMessage());
        }
        return first;
    }

    /** Loads the latest checkpoint, and checks every element. */
    long load() {
        return load(Checkpoints::load);
    }

    long load(long step) {
        return load((saved, state) -> saved.load(step, state));
    }

    private long load(BiFunction<Checkpoints, TrainingState, CheckpointInfo> load) {
        return ranks.all(group -> {
                    ToyModel model =
                            ToyModel.on(group.rank(), group.worldSize()).fill(77);
                    long step = load.apply(checkpoints.get(group.rank()), model.state())
                            .step();
                    model.assertOf(step);
                    return step;
                })
                .get(0);
    }

    @Override
    public void close() {
        ranks.each(group -> {
            checkpoints.get(group.rank()).close();
        });
        ranks.close();
    }
}
