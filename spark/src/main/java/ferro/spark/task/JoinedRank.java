package ferro.spark.task;

import ferro.group.ProcessGroup;
import ferro.spark.rank.RestoredState;
import ferro.spark.rank.SparkRank;
import ferro.spark.rendezvous.DriverStoreClient;
import ferro.spark.state.HadoopStorage;
import ferro.spark.state.RankStateStore;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.util.LongAccumulator;

/** A rank that has joined its group. */
final class JoinedRank implements SparkRank {
    private final ProcessGroup group;
    private final int attempt;
    private final DriverStoreClient line;
    private final String checkpoints;
    private final LongAccumulator steps;
    private RankStateStore state;

    JoinedRank(ProcessGroup group, int attempt, DriverStoreClient line, String checkpoints, LongAccumulator steps) {
        this.group = group;
        this.attempt = attempt;
        this.line = line;
        this.checkpoints = checkpoints;
        this.steps = steps;
    }

    @Override
    public ProcessGroup group() {
        return group;
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public void checkpoint(long step, byte[] bytes) throws IOException {
        state().save(step, bytes);
    }

    @Override
    public Optional<RestoredState> restore() throws IOException {
        return state().restore();
    }

    private RankStateStore state() throws IOException {
        if (checkpoints == null) {
            throw new IllegalStateException("rank " + group.rank() + " of " + group.worldSize()
                    + " has no checkpoint folder: set one with FerroSpark.checkpoint(\"hdfs://...\")");
        }
        if (state == null) {
            state = new RankStateStore(HadoopStorage.at(checkpoints), group);
        }
        return state;
    }

    @Override
    public void progress(long step, Map<String, Double> values) {
        line.progress(step, values);
        if (group.rank() == 0) {
            steps.add(step - steps.value());
        }
    }
}
