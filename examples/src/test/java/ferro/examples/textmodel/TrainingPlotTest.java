package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingPlotTest {
    @TempDir
    private Path folder;

    @Test
    void plotIsASmallPictureOfThreePanels() throws IOException {
        List<TrainingStep> steps = new ArrayList<>();
        for (int step = 0; step < 600; step++) {
            long start = step * 50_000_000L;
            double loss = 1.6 + 3 / (1 + step / 40.0);
            steps.add(new TrainingStep(step, loss, 1024, start, start + 49_000_000L, 9_000_000L));
        }
        Path file = folder.resolve("plot.png");

        TrainingPlot.write(steps, 4, file);

        BufferedImage image = ImageIO.read(file.toFile());
        assertEquals(900, image.getWidth());
        assertEquals(750, image.getHeight());
        assertTrue(Files.size(file) < 100 << 10, Files.size(file) + " bytes");
    }

    @Test
    void oneStepIsEnoughForAPlot() throws IOException {
        Path file = folder.resolve("plot.png");

        TrainingPlot.write(List.of(new TrainingStep(0, 4.5, 64, 0, 30_000_000L, 1_000_000L)), 2, file);

        assertTrue(Files.size(file) > 0, "the file is empty");
    }

    @Test
    void theSmoothedLineBeginsAtTheFirstLossAndFollowsTheLast() {
        double[] values = new double[200];
        Arrays.fill(values, 0, 100, 4);
        Arrays.fill(values, 100, 200, 2);

        double[] smoothed = TrainingPlot.smoothed(values);

        assertEquals(4, smoothed[0], 1e-12);
        assertEquals(4, smoothed[99], 1e-12);
        // 100 times, a twentieth of the remaining difference disappears
        assertEquals(2 + 2 * Math.pow(0.95, 100), smoothed[199], 0.001);
    }
}
