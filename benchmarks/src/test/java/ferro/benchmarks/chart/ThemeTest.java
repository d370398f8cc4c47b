package ferro.benchmarks.chart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.Color;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The colours of config/theme/theme.css, by the contrast of WCAG 2.1: 4.5 for text, 3 for lines and shapes. */
class ThemeTest {
    private static final double TEXT = 4.5;
    private static final double SHAPE = 3;

    private final Theme theme = Theme.load();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ferro", "openmpi", "mpich", "gloo", "nccl", "rank0", "rank1", "rank2", "rank3", "done", "done2",
                "running", "failed", "queued", "event"
            })
    void coloursContrastWithLightAndDarkPages(String name) {
        assertContrast(SHAPE, theme.light(name), theme.light("page"), name);
        assertContrast(SHAPE, theme.dark(name), theme.dark("page"), name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ink", "soft"})
    void textsContrastWithLightAndDarkPages(String name) {
        for (String page : new String[] {"page", "lane"}) {
            assertContrast(TEXT, theme.light(name), theme.light(page), name);
            assertContrast(TEXT, theme.dark(name), theme.dark(page), name);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rank0-light", "rank1-light", "rank2-light", "rank3-light"})
    void darkTextContrastsWithTheColourOfARank(String name) {
        assertContrast(TEXT, theme.light("ink"), theme.light(name), name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"done", "done2", "running", "failed", "queued"})
    void whiteTextContrastsWithTheBarOfACall(String name) {
        assertContrast(TEXT, "#ffffff", theme.light(name), name);
    }

    @Test
    void theContrastIsThatOfTheStandard() {
        assertEquals(21, contrast("#000000", "#ffffff"), 1e-9);
        assertEquals(4.54, contrast("#767676", "#ffffff"), 0.01);
    }

    @Test
    void anUnknownNameOfAColourIsNamed() {
        IllegalArgumentException misuse = assertThrows(IllegalArgumentException.class, () -> theme.light("fero"));

        assertTrue(misuse.getMessage().contains("no entry fero"), misuse::getMessage);
    }

    private static void assertContrast(double least, String color, String page, String name) {
        double contrast = contrast(color, page);
        assertTrue(contrast >= least, () -> name + " " + color + " on " + page + ": " + contrast);
    }

    private static double contrast(String one, String other) {
        double first = luminance(Color.decode(one));
        double second = luminance(Color.decode(other));
        return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
    }

    private static double luminance(Color color) {
        return 0.2126 * linear(color.getRed()) + 0.7152 * linear(color.getGreen()) + 0.0722 * linear(color.getBlue());
    }

    private static double linear(int channel) {
        double value = channel / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }
}
