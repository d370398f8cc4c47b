package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.chart.ChartPanel;
import ferro.benchmarks.chart.ChartPicture;
import ferro.benchmarks.chart.SvgTexts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The charts of docs/images are those that benchmarks/pictures.sh draws from the committed data. */
class DocsPicturesTest {
    private static final Path DOCS = Path.of("../docs");

    @Test
    void theChartOfSpeedsIsDrawnFromTheTargets() throws Exception {
        assertCommitted("speed", DocsPictures.speed(DOCS.resolve("performance")));
    }

    @Test
    void thePlotOfTheDemoIsDrawnFromItsOutput() throws Exception {
        assertCommitted("demo", DemoPicture.of(DOCS.resolve("images/demo.txt")));
    }

    private static void assertCommitted(String name, ChartPicture drawn) throws Exception {
        SvgTexts committed = new SvgTexts(Files.readString(DOCS.resolve("images/" + name + ".svg")));

        assertEquals(
                new SvgTexts(drawn.svg()).structure(),
                committed.structure(),
                "draw again with: benchmarks/pictures.sh");
        assertTrue(committed.maxLines() <= ChartPanel.MAX_LINES, name);
        assertEquals(List.of(), committed.overlaps(), name);
        assertTrue(Files.size(DOCS.resolve("images/" + name + ".png")) > 1000, name);
        String texts = committed.structure().toString();
        assertTrue(texts.contains(" is better)") && texts.contains("cores") && texts.contains("JDK"), texts);
    }
}
