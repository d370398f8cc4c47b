package ferro.training.checkpoint;

import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.nio.file.Path;

/** Saves one step after the other until it is killed, and prints each call of the file system before it is made. */
public final class SavesForever {
    private int save = 1;
    private int call;

    private SavesForever() {}

    /** Saves into the folder that is its argument. */
    public static void main(String... arguments) {
        new SavesForever().saveInto(Path.of(arguments[0]));
    }

    private void saveInto(Path folder) {
        ProcessGroup group = ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(2);
        LocalStorage.at(folder);
        Checkpoints checkpoints = Checkpoints.open(group, new LocalStorage(folder, this::printCall), settings);
        long first = checkpoints.latest().map(CheckpointInfo::step).orElse(0L) + 1;
        for (long step = first; ; step++) {
            checkpoints.save(step, ToyModel.on(0, 1).fill(step).state());
            System.out.println(ended(save));
            save++;
            call = 0;
        }
    }

    private void printCall(String name) {
        call++;
        System.out.println(began(call, save));
    }

    /** The line before a call of the file system, both numbers from 1 on. */
    static String began(int call, int save) {
        return "call " + call + " of save " + save;
    }

    /** The line after a save. */
    static String ended(int save) {
        return "end of save " + save;
    }
}
