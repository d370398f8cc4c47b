package ferro.djl.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.djl.RankJvms;
import ferro.harness.Child;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CharacterModelTest {
    private static final int STEPS = 80;
    private static final int LAST = 10;
    /** The folder with the pages of this checkout. */
    private static final String TEXT =
            Path.of("../../docs").toAbsolutePath().normalize().toString();

    @TempDir
    private Path folder;

    @Test
    void aModelLearnsTheSameOnOneTwoOrThreeRanks() throws Exception {
        Child two = trained(2, STEPS / 2, "several");
        Child three = trained(3, STEPS, "several");
        Child one = trained(1, STEPS, "one");

        assertEquals(List.of("of 2 ranks are equal"), two.after("replicas"), two::toString);
        assertEquals(List.of("of 3 ranks are equal"), three.after("replicas"), three::toString);
        List<Double> found = new ArrayList<>(losses(two, 0));
        found.addAll(losses(three, STEPS / 2));
        List<Double> expected = losses(one, 0);
        assertEquals(STEPS, expected.size(), one::toString);
        assertEquals(STEPS, found.size(), found::toString);
        for (int step = 0; step < STEPS; step++) {
            assertEquals(expected.get(step), found.get(step), 1e-5, "step " + step + " of " + expected + found);
        }
        // the losses of two successive batches differ by up to 0.5, and the text changes with every changed page
        double last = expected.subList(STEPS - LAST, STEPS).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElseThrow();
        assertTrue(last < expected.get(0) - 1, () -> "mean of the last " + LAST + ": " + last + " of " + expected);
    }

    private Child trained(int worldSize, int steps, String checkpoints) throws Exception {
        String saved = folder.resolve(checkpoints).toString();
        return RankJvms.run(worldSize, CharacterModel.class, TEXT, steps, saved).get(0);
    }

    private static List<Double> losses(Child rank, int first) {
        List<Double> losses = new ArrayList<>();
        for (String line : rank.after("step")) {
            assertTrue(line.startsWith(first + losses.size() + ": loss "), line);
            losses.add(Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)));
        }
        return losses;
    }
}
