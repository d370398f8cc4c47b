package ferro.benchmarks.chart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.chart.ChartLine.LineStroke;
import ferro.benchmarks.chart.ChartLine.Point;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartPictureTest {
    @TempDir
    private Path folder;

    @Test
    void labelsOfLinesWithOneEndDoNotOverlap() throws Exception {
        SvgTexts svg = new SvgTexts(picture(5, 7).svg());

        assertEquals(5, svg.maxLines());
        assertEquals(List.of(), svg.overlaps());
    }

    @Test
    void labelsOfLinesThatEndAtTheEdgesStayInTheChart() throws Exception {
        for (double end : new double[] {1, 1e4}) {
            assertEquals(List.of(), new SvgTexts(picture(5, end).svg()).overlaps(), "" + end);
        }
    }

    @Test
    void sixLinesAreRefused() {
        IllegalArgumentException misuse = assertThrows(IllegalArgumentException.class, () -> picture(6, 7));

        assertTrue(misuse.getMessage().contains("has 6 lines, need 1 to 5"), misuse::getMessage);
    }

    @Test
    void aLongNoteIsWrapped() throws Exception {
        ChartPicture one = picture(1, 7);
        ChartPicture picture = new ChartPicture("One", List.of("ferro-shm@17, ".repeat(12)), 1, one.panels());

        assertEquals(List.of(), new SvgTexts(picture.svg()).overlaps());
        assertTrue(picture.notes().size() > 2, picture.notes()::toString);
    }

    @Test
    void eachMediumHasItsOwnDash() {
        String svg = picture(3, 7).svg();

        for (String dash : List.of("stroke-dasharray=\"7 4\"", "stroke-dasharray=\"2 3\"")) {
            assertEquals(2, svg.split(dash, -1).length, svg);
        }
    }

    @Test
    void theImageHasTheSameSizeTwiceAndTheLineOfFerro() throws Exception {
        ChartPicture picture = picture(2, 7);

        picture.write(folder, "chart");

        var image = ImageIO.read(folder.resolve("chart.png").toFile());
        assertEquals(2 * picture.width(), image.getWidth());
        int ferro = Theme.load().color("ferro").getRGB();
        int found = 0;
        for (int pixel : image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth())) {
            found += pixel == ferro ? 1 : 0;
        }
        assertTrue(found > 300, found + " pixels");
        assertEquals(picture.svg(), Files.readString(folder.resolve("chart.svg")));
    }

    @Test
    void labelsAreMovedNoFartherThanNeeded() {
        assertArrayEquals(new double[] {30, 80}, LabelSpreader.spread(new double[] {30, 80}, 15, 0, 100));
        assertArrayEquals(new double[] {37.5, 22.5, 80}, LabelSpreader.spread(new double[] {31, 29, 80}, 15, 0, 100));
        assertArrayEquals(new double[] {100, 85, 70}, LabelSpreader.spread(new double[] {99, 98, 97}, 15, 0, 100));
    }

    private static ChartPicture picture(int count, double end) {
        List<String> colors = List.of("ferro", "openmpi", "mpich", "gloo", "nccl", "soft");
        List<ChartLine> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LineStroke stroke = new LineStroke(colors.get(i), LineMedium.values()[i % LineMedium.values().length]);
            lines.add(new ChartLine("library " + i, stroke, List.of(new Point(4, i + 2), new Point(4096, end))));
        }
        Axis sizes = Axis.of("size", List.of(new Axis.Tick(4, "4 B"), new Axis.Tick(4096, "4 KiB")));
        ChartPanel panel = new ChartPanel("time (lower is better)", sizes, Axis.factors("us", 1, 1e4), lines);
        return new ChartPicture("Five libraries", List.of("2 cores & more"), 1, List.of(panel));
    }
}
