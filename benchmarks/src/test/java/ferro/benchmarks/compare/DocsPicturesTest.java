package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.chart.ChartPanel;
import ferro.benchmarks.chart.ChartPicture;
import ferro.benchmarks.chart.SvgTexts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/** The charts of docs/images are those that benchmarks/pictures.sh draws from the committed data. */
class DocsPicturesTest {
    private static final Path DOCS = Path.of("../docs");
    /** Widths of texts differ a little between fonts. */
    private static final double PIXELS = 1;

    @Test
    void theChartOfSpeedsIsDrawnFromTheTargets() throws Exception {
        assertCommitted("speed", DocsPictures.speed(DOCS.resolve("performance")));
    }

    @Test
    void theChartOfMessagesIsDrawnFromTheFiguresOfScale() throws Exception {
        assertCommitted("scale", MessageChart.of(DOCS.resolve("performance")));
    }

    @Test
    void theDemoChartIsDrawnFromItsOutput() throws Exception {
        assertCommitted("demo", DemoPicture.of(DOCS.resolve("images/demo.txt")));
    }

    @Test
    void aMovedPointInAPictureIsDetected() throws Exception {
        String demo = Files.readString(DOCS.resolve("images/demo.svg"));
        Matcher line = Pattern.compile("class=\"line [^>]*points=\"([\\d.]+),([\\d.]+)")
                .matcher(demo);
        assertTrue(line.find(), demo);
        String moved = demo.substring(0, line.start(2))
                + (Double.parseDouble(line.group(2)) + 2)
                + demo.substring(line.end(2));

        assertThrows(
                AssertionFailedError.class,
                () -> assertSamePoints(new SvgTexts(demo).points(), new SvgTexts(moved).points(), ""));
    }

    private static void assertSamePoints(List<double[]> drawn, List<double[]> committed, String todo) {
        assertEquals(drawn.size(), committed.size(), todo);
        for (int i = 0; i < drawn.size(); i++) {
            assertArrayEquals(drawn.get(i), committed.get(i), PIXELS, todo);
        }
    }

    private static void assertCommitted(String name, ChartPicture drawn) throws Exception {
        SvgTexts committed = new SvgTexts(Files.readString(DOCS.resolve("images/" + name + ".svg")));

        SvgTexts again = new SvgTexts(drawn.svg());
        String todo = name + ": draw again with: benchmarks/pictures.sh";
        assertEquals(again.structure(), committed.structure(), todo);
        assertSamePoints(again.points(), committed.points(), todo);
        assertTrue(committed.maxLines() <= ChartPanel.MAX_LINES, name);
        assertEquals(List.of(), committed.overlaps(), name);
        assertTrue(Files.size(DOCS.resolve("images/" + name + ".png")) > 1000, name);
        String texts = committed.structure().toString();
        assertTrue(texts.contains(" is better)") && texts.contains("cores") && texts.contains("JDK"), texts);
    }
}
