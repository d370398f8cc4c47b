package ferro.examples.line;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.simulated.SimulatedBackend;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the longer program of docs/training.md. */
class LineTrainingTest {
    @TempDir
    private Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @Test
    void threeRanksContinueTheTrainingOfTwo() {
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        SimulatedBackend.run(2, group -> new LineTraining(group, folder, out).learn(10));
        SimulatedBackend.run(3, group -> {
            float[] line = new LineTraining(group, folder, out).learn(40);
            assertEquals(2, line[0], 0.05);
            assertEquals(1, line[1], 0.05);
        });
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("loss"), text);
    }

    @Test
    void missingArgumentsAreReported() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> LineTraining.main(new String[] {"folder"}));
        assertEquals("need a folder for checkpoints and a number of epochs, found [folder]", refused.getMessage());
    }
}
