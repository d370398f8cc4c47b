package ferro.benchmarks.chart;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The lines of one panel, which XChart scales and paints. */
final class PanelPlot {
    private static final int WIDTH = 272;
    private static final int HEIGHT = 180;
    private static final int LEFT = 58;
    private static final int TOP = 48;

    private final ChartPanel panel;
    private final XYChart chart;
    private final int left;
    private final int top;

    /** Lays the lines out. The panel begins at the position {@code panelLeft}, {@code panelTop} of the picture. */
    PanelPlot(ChartPanel panel, int panelLeft, int panelTop) {
        this.panel = panel;
        left = panelLeft + LEFT;
        top = panelTop + TOP;
        chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).build();
        for (ChartLine line : panel.lines()) {
            double[] x = line.points().stream()
                    .mapToDouble(point -> panel.x().at(point.x()))
                    .toArray();
            double[] y = line.points().stream()
                    .mapToDouble(point -> panel.y().at(point.y()))
                    .toArray();
            chart.addSeries(line.label(), x, y);
        }
        style();
        // XChart scales the axes when it paints
        chart.paint(new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_ARGB).createGraphics(), WIDTH, HEIGHT);
    }

    private void style() {
        Color none = new Color(0, true);
        chart.getStyler().setChartBackgroundColor(none).setPlotBackgroundColor(none);
        chart.getStyler().setLegendVisible(false).setChartTitleVisible(false).setChartPadding(0);
        chart.getStyler().setPlotBorderVisible(false).setPlotContentSize(1);
        chart.getStyler().setAxisTicksVisible(false).setAxisTitlesVisible(false);
        chart.getStyler().setPlotGridLinesVisible(false).setPlotMargin(0);
        chart.getStyler().setXAxisMin(panel.x().at(panel.x().low()));
        chart.getStyler().setXAxisMax(panel.x().at(panel.x().high()));
        chart.getStyler().setYAxisMin(panel.y().at(panel.y().low()));
        chart.getStyler().setYAxisMax(panel.y().at(panel.y().high()));
    }

    /** Paints the lines over an image of the picture. */
    void paint(Graphics2D image, Theme theme) {
        for (ChartLine line : panel.lines()) {
            XYSeries series = chart.getSeries(line.label());
            series.setLineStyle(PngWriter.stroke(theme, "line", line.stroke()));
            series.setLineColor(theme.color(line.stroke().color()));
            series.setMarker(SeriesMarkers.NONE);
        }
        Graphics2D moved = (Graphics2D) image.create();
        moved.translate(left, top);
        chart.paint(moved, WIDTH, HEIGHT);
        moved.dispose();
    }

    double x(double value) {
        return left + chart.getScreenXFromChart(panel.x().at(value));
    }

    double y(double value) {
        return top + chart.getScreenYFromChart(panel.y().at(value));
    }

    double left() {
        return x(panel.x().low());
    }

    double right() {
        return x(panel.x().high());
    }

    double top() {
        return y(panel.y().high());
    }

    double bottom() {
        return y(panel.y().low());
    }
}
