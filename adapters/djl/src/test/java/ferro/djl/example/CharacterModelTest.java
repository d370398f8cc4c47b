package ferro.djl.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.djl.RankJvms;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CharacterModelTest {
    private static final int STEPS = 40;
    /** The pages of this checkout. */
    private static final String TEXT =
            Path.of("../../docs").toAbsolutePath().normalize().toString();

    @TempDir
    private Path folder;

    @Test
    void learnsOnTwoRanksWhatItLearnsOnOne() {
        RankJvms.Ended two = trained(2);
        RankJvms.Ended one = trained(1);

        assertEquals(List.of("of 2 ranks are equal"), two.after("replicas"), two::toString);
        List<Double> found = losses(two);
        List<Double> expected = losses(one);
        assertEquals(STEPS, found.size(), two::toString);
        for (int step = 0; step < STEPS; step++) {
            assertEquals(expected.get(step), found.get(step), 1e-5, "step " + step + " of " + expected + found);
        }
        assertTrue(expected.get(STEPS - 1) < expected.get(0) - 1, expected::toString);
    }

    private RankJvms.Ended trained(int worldSize) {
        return RankJvms.run(folder, worldSize, CharacterModel.class, TEXT, Integer.toString(STEPS))
                .get(0);
    }

    private static List<Double> losses(RankJvms.Ended rank) {
        List<Double> losses = new ArrayList<>();
        for (String line : rank.after("step")) {
            assertTrue(line.startsWith(losses.size() + ": loss "), line);
            losses.add(Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)));
        }
        return losses;
    }
}
