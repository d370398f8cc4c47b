package ferro.training.checkpoint;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.nio.file.Path;

/** Saves one step after the other until it is killed. */
public final class SavesForever {
    private SavesForever() {}

    /** Saves into the folder that is its argument. */
    public static void main(String... arguments) {
        ProcessGroup group = ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(2);
        Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(Path.of(arguments[0])), settings);
        long first = checkpoints.latest().map(CheckpointInfo::step).orElse(0L) + 1;
        for (long step = first; ; step++) {
            checkpoints.save(step, ToyModel.on(0, 1).fill(step).state());
            System.out.println(step == first + 2 ? "several" : "saved " + step);
        }
    }
}
