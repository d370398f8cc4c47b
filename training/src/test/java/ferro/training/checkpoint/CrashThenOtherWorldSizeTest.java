package ferro.training.checkpoint;

import static ferro.training.checkpoint.CrashTest.together;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.LinearTraining;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Four ranks train, and their machine ends in a save: in every call of the storage, before or after it is made, and in many bytes.
 * From what is then on the disk two and three ranks go on as the four would have.
 */
@Tag("long")
class CrashThenOtherWorldSizeTest {
    private static final CheckpointSettings AT_ONCE = CheckpointSettings.DEFAULT.withVisibleWithin(Duration.ZERO);
    private static final int SAVED = 3;
    private static final int CRASHED = 6;
    private static final int STEPS = 12;
    /** A prime, so that it meets lengths and texts of files at different places. */
    private static final int BYTES_APART = 89;

    private final DyingStorage dying = new DyingStorage(new MemoryStorage());
    /** What is left after each crash. */
    private final List<MemoryStorage> disks = new ArrayList<>();
    /** Parameters of the four by step. */
    private final Map<Long, float[]> parameters = new TreeMap<>();

    private double[] losses;
    private int crashes;

    @Test
    void otherNumbersOfRanksContinueAfterAnyCrash() {
        Ranks.run(Medium.SIMULATED, 4, this::trainAndCrash);
        assertTrue(crashes > 50, "crashed only " + crashes + " times");
        for (int others = 2; others <= 3; others++) {
            List<Long> steps =
                    Ranks.run(Medium.SIMULATED, others, this::goOnFromEach).get(0);
            assertEquals(
                    List.of((long) SAVED, (long) CRASHED),
                    steps.stream().distinct().sorted().toList());
        }
    }

    private Void trainAndCrash(ProcessGroup group) {
        List<Double> all = new ArrayList<>();
        MemoryStorage before = new MemoryStorage();
        together(group, () -> dying.live(before));
        try (LinearTraining training = new LinearTraining(group, true)) {
            while (all.size() < STEPS) {
                all.add(training.step());
                if (all.size() == SAVED) {
                    assertTrue(saves(group, training));
                }
                if (all.size() == CRASHED) {
                    crash(group, training, before, 1, call -> dying.dieAtCall(call, false));
                    crash(group, training, before, 1, call -> dying.dieAtCall(call, true));
                    crash(group, training, before, BYTES_APART, dying::dieAtByte);
                }
                together(group, () -> parameters.put((long) all.size(), training.parameters()));
            }
        }
        together(
                group,
                () -> losses = all.stream().mapToDouble(Double::doubleValue).toArray());
        return null;
    }

    /** Saves again and again on top of the same disk, and dies later each time, until a save lives. */
    private void crash(ProcessGroup group, LinearTraining training, MemoryStorage before, int apart, LongConsumer die) {
        boolean lives = false;
        for (long at = 0; !lives; at += apart) {
            long now = at;
            together(group, () -> {
                MemoryStorage disk = before.copy();
                disks.add(disk);
                dying.live(disk);
                die.accept(now);
            });
            lives = saves(group, training);
            together(group, () -> crashes += dying.isDead() ? 1 : 0);
        }
    }

    private boolean saves(ProcessGroup group, LinearTraining training) {
        try (Checkpoints checkpoints = Checkpoints.open(group, dying, AT_ONCE)) {
            checkpoints.save(training.optimizer().stepCount(), training.state());
            return !dying.isDead();
        } catch (CheckpointException failure) {
            assertTrue(failure.getMessage().contains("the machine "), failure.getMessage());
            return false;
        }
    }

    /** Returns which step was the latest on each disk. */
    private List<Long> goOnFromEach(ProcessGroup group) {
        List<Long> steps = new ArrayList<>();
        try (LinearTraining training = new LinearTraining(group, true)) {
            for (MemoryStorage disk : disks) {
                try (Checkpoints checkpoints = Checkpoints.open(group, disk, AT_ONCE)) {
                    CheckpointInfo loaded = checkpoints.load(training.state());
                    training.optimizer().restore(loaded.metadata());
                    steps.add(loaded.step());
                }
                int step = (int) training.optimizer().stepCount();
                assertArrayEquals(parameters.get((long) step), training.parameters());
                double[] next = new double[STEPS - step];
                for (int index = 0; index < next.length; index++) {
                    next[index] = training.step();
                }
                assertArrayEquals(Arrays.copyOfRange(losses, step, STEPS), next, 1e-5);
            }
        }
        return steps;
    }
}
