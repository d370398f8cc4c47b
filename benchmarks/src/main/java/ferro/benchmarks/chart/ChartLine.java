package ferro.benchmarks.chart;

import java.util.List;

/**
 * A line of a chart.
 *
 * @param label text that is drawn at the end of the line
 * @param stroke colour and dash of the line
 * @param points points by increasing x, at least one point
 */
public record ChartLine(String label, LineStroke stroke, List<Point> points) {
    /**
     * The stroke of a line.
     *
     * @param color name of a colour of the theme, such as {@code ferro}
     * @param medium medium of the data
     */
    public record LineStroke(String color, LineMedium medium) {}

    /**
     * A measured point.
     *
     * @param x value on the horizontal axis
     * @param y value on the vertical axis
     */
    public record Point(double x, double y) {}

    /**
     * Creates a line.
     *
     * @param label text that is drawn at the end of the line
     * @param stroke colour and dash of the line
     * @param points points by increasing x
     * @throws IllegalArgumentException if {@code points} is empty
     */
    public ChartLine {
        if (points.isEmpty()) {
            throw new IllegalArgumentException("line " + label + " has 0 points, need at least 1");
        }
        points = List.copyOf(points);
    }
}
