package ferro.benchmarks.chart;

import java.util.List;

/**
 * A part of a picture with axes of its own.
 *
 * @param title what the panel shows, and which direction is better
 * @param x horizontal axis
 * @param y vertical axis
 * @param lines one to five lines
 */
public record ChartPanel(String title, Axis x, Axis y, List<ChartLine> lines) {
    /** Largest number of lines, because readers cannot distinguish more lines. */
    public static final int MAX_LINES = 5;

    /**
     * Creates a panel.
     *
     * @param title what the panel shows, and which direction is better
     * @param x horizontal axis
     * @param y vertical axis
     * @param lines lines of the panel
     * @throws IllegalArgumentException if there is no line, or there are more than five
     */
    public ChartPanel {
        if (lines.isEmpty() || lines.size() > MAX_LINES) {
            throw new IllegalArgumentException(
                    "panel \"" + title + "\" has " + lines.size() + " lines, need 1 to " + MAX_LINES);
        }
        lines = List.copyOf(lines);
    }
}
