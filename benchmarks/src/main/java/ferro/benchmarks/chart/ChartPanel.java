package ferro.benchmarks.chart;

import java.util.List;

/**
 * A part of a picture that has its own axes.
 *
 * @param title what the panel shows, and which direction is better
 * @param x horizontal axis
 * @param y vertical axis
 * @param lines one to five lines of the panel
 */
public record ChartPanel(String title, Axis x, Axis y, List<ChartLine> lines) {
    /** Largest number of lines of a panel, because readers cannot distinguish more lines. */
    public static final int MAX_LINES = 5;

    /**
     * Creates a panel.
     *
     * @param title what the panel shows, and which direction is better
     * @param x horizontal axis
     * @param y vertical axis
     * @param lines lines of the panel
     * @throws IllegalArgumentException if {@code lines} is empty, or has more than five lines
     */
    public ChartPanel {
        if (lines.isEmpty() || lines.size() > MAX_LINES) {
            throw new IllegalArgumentException(
                    "panel \"" + title + "\" has " + lines.size() + " lines, need 1 to " + MAX_LINES);
        }
        lines = List.copyOf(lines);
    }
}
