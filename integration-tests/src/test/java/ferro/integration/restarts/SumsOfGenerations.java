package ferro.integration.restarts;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.CheckpointSettings;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.Resume;
import ferro.training.checkpoint.TrainingState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A rank that adds up until a file is there, whose path is its first argument, and checks every sum. What it adds depends on
 * its generation, so a sum with a part of another generation is wrong and ends the rank with exit code 7. With a folder as
 * second argument it saves checkpoints there, continues after the newest one, and checks what it has loaded.
 */
final class SumsOfGenerations {
    private static final int LENGTH = 64;
    private static final int WRONG = 7;
    /** Sums need not take the cores of other tests. */
    private static final long REST_MILLIS = 2;

    private static final int SAVE_EVERY_SUMS = 10;
    private static final int SAVES = 3;
    private static final int KEEP = 2;

    private final ProcessGroup group;
    private final Path end;
    private boolean isPrinted;

    private SumsOfGenerations(ProcessGroup group, Path end) {
        this.group = group;
        this.end = end;
    }

    public static void main(String[] arguments) throws InterruptedException {
        try (ProcessGroup group = ProcessGroup.join()) {
            SumsOfGenerations sums = new SumsOfGenerations(group, Path.of(arguments[0]));
            boolean over = sums.isLast();
            System.out.println("generation " + group.generation() + " sums as pid "
                    + ProcessHandle.current().pid() + " over: " + group.linkReport());
            while (!over) {
                over = arguments.length > 1 ? sums.isLastWithSaves(Path.of(arguments[1])) : sums.isLastAfterARest();
            }
            System.out.println("done in generation " + group.generation());
        }
    }

    private boolean isLastAfterARest() throws InterruptedException {
        Thread.sleep(REST_MILLIS);
        return isLast();
    }

    /** Opens the checkpoints, continues, saves some times, and closes them: a kill may also come while their group closes. */
    private boolean isLastWithSaves(Path folder) throws InterruptedException {
        HostTensor values = HostTensor.ofArray(DataType.FLOAT32, new float[LENGTH], 0, LENGTH);
        TrainingState state = TrainingState.of(List.of(NamedTensor.of("values", values, LENGTH)));
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withKeepLast(KEEP);
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder), settings)) {
            long step = Resume.from(checkpoints, state).step();
            check("loaded element", values, step);
            for (int save = 0; save < SAVES; save++) {
                for (int sum = 0; sum < SAVE_EVERY_SUMS; sum++) {
                    if (isLastAfterARest()) {
                        return true;
                    }
                }
                step++;
                for (int index = 0; index < LENGTH; index++) {
                    values.setFloat(index, step);
                }
                checkpoints.save(step, state);
                printOnce(step);
            }
        }
        return false;
    }

    private void printOnce(long step) {
        if (group.rank() == 0 && !isPrinted) {
            System.out.println("generation " + group.generation() + " saved step " + step);
            isPrinted = true;
        }
    }

    /** Adds up once; returns whether a rank has seen the file. Ranks see it at different times, and end at the same sum. */
    private boolean isLast() {
        float[] data = new float[LENGTH];
        int generation = group.generation();
        Arrays.fill(data, group.rank() + 100f * generation);
        data[0] = Files.exists(end) ? 1 : 0;
        group.allReduce(data, ReduceOp.SUM);
        boolean last = data[0] > 0;
        int size = group.worldSize();
        float need = size * (size - 1) / 2f + size * 100f * generation;
        data[0] = need;
        check("element of a sum", HostTensor.ofArray(DataType.FLOAT32, data, 0, LENGTH), need);
        return last;
    }

    private static void check(String what, HostTensor values, float need) {
        for (int index = 0; index < LENGTH; index++) {
            if (values.getFloat(index) != need) {
                System.out.println("wrong: " + what + " " + index + " is " + values.getFloat(index) + ", need " + need);
                System.exit(WRONG);
            }
        }
    }
}
