package ferro.benchmarks.chart;

import java.util.Locale;

/** A text or a stroke of a picture. Lengths and positions are in pixels, from the top left. */
sealed interface PictureMark {
    /** The part of a text that is placed at the coordinates of the text. */
    enum Anchor {
        START,
        MIDDLE,
        END;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The role of a text in the picture.
     *
     * @param color name of the colour
     * @param size size in pixels
     * @param bold whether the text is bold
     */
    enum TextRole {
        TITLE("ink", 17, true),
        PANEL("ink", 13, true),
        LABEL("ink", 13, false),
        TICK("soft", 11, false),
        NOTE("soft", 12, false);

        final String color;
        final int size;
        final boolean bold;

        TextRole(String color, int size, boolean bold) {
            this.color = color;
            this.size = size;
            this.bold = bold;
        }
    }

    /** A text of a picture. */
    record TextMark(TextRole style, Anchor anchor, double x, double y, String text) implements PictureMark {}

    /** A stroke through points. The role is the class of the stroke in SVG. */
    record StrokeMark(String role, ChartLine.LineStroke stroke, double[] x, double[] y) implements PictureMark {}
}
