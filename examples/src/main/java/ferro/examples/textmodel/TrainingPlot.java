package ferro.examples.textmodel;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * A plot with three charts, one above the other. The charts show loss, throughput and share of communication over time.
 */
final class TrainingPlot {
    private static final Color LOSS = new Color(0x1F5FA8);
    private static final Color RAW_LOSS = new Color(0xB7CCE6);
    private static final Color THROUGHPUT = new Color(0xB4551D);
    private static final Color COMMUNICATION = new Color(0x3F7F4F);
    private static final int WIDTH = 900;
    private static final int HEIGHT = 250;

    /** Time over which speed and shares are averaged, because steps are short. */
    private static final long WINDOW_NANOS = 500_000_000L;

    /** Weight of the newest loss in the smoothed line. */
    private static final double NEWEST = 0.05;

    private TrainingPlot() {}

    /**
     * Writes the plot.
     *
     * @param steps     steps of the training, at least one
     * @param worldSize number of ranks that trained
     * @param file      PNG, replaced if it exists
     * @throws IOException if the file cannot be written, or this machine has no fonts
     */
    static void write(List<TrainingStep> steps, int worldSize, Path file) throws IOException {
        List<Point> points = points(steps);
        XYChart speed = chart("Throughput, all ranks together", "characters/s", THROUGHPUT);
        add(speed, "throughput", points, Point::charactersPerSecond);
        speed.getStyler().setYAxisMin(0.0);
        XYChart share = chart("Time in communication, waiting included", "% of the time", COMMUNICATION);
        add(share, "communication", points, Point::communicationPercent);
        share.getStyler().setYAxisMin(0.0);
        share.getStyler().setYAxisMax(100.0);
        List<XYChart> charts = List.of(lossChart(steps, worldSize), speed, share);
        // all three charts have the same time axis
        double end = steps.get(steps.size() - 1).endNanos() / 1e9;
        charts.forEach(chart -> chart.getStyler().setXAxisMax(end));
        Files.write(file, picture(charts));
    }

    private static XYChart lossChart(List<TrainingStep> steps, int worldSize) {
        double[] raw = steps.stream().mapToDouble(TrainingStep::loss).toArray();
        double[] smoothed = smoothed(raw);
        String title = String.format(
                Locale.ROOT,
                "One model trained by %d %s: loss %.3f at the end, %.3f smoothed",
                worldSize,
                worldSize == 1 ? "rank" : "ranks",
                raw[raw.length - 1],
                smoothed[raw.length - 1]);
        XYChart chart = chart(title, "nats/character", RAW_LOSS, LOSS);
        chart.getStyler().setYAxisDecimalPattern("0.0");
        double[] seconds =
                steps.stream().mapToDouble(step -> step.endNanos() / 1e9).toArray();
        chart.addSeries("each step", seconds, raw).setMarker(SeriesMarkers.NONE);
        chart.addSeries("smoothed", seconds, smoothed).setMarker(SeriesMarkers.NONE);
        chart.getStyler().setLegendVisible(true);
        chart.getStyler().setLegendPosition(LegendPosition.InsideNE);
        return chart;
    }

    /**
     * Returns running means in which the newest value has a weight of 1/20. The first values have more weight, because
     * only few values precede the first values.
     */
    static double[] smoothed(double[] values) {
        double[] means = new double[values.length];
        double mean = 0;
        double left = 1;
        for (int i = 0; i < values.length; i++) {
            mean += NEWEST * (values[i] - mean);
            left *= 1 - NEWEST;
            means[i] = mean / (1 - left);
        }
        return means;
    }

    private static void add(XYChart chart, String name, List<Point> points, ToDoubleFunction<Point> value) {
        double[] seconds = points.stream().mapToDouble(Point::seconds).toArray();
        chart.addSeries(name, seconds, points.stream().mapToDouble(value).toArray())
                .setMarker(SeriesMarkers.NONE);
    }

    /** Draws the charts into memory first, so that no empty file is left if drawing fails. */
    private static byte[] picture(List<XYChart> charts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BitmapEncoder.saveBitmap(charts, charts.size(), 1, bytes, BitmapFormat.PNG);
        } catch (LinkageError | InternalError | RuntimeException noFonts) {
            // On a machine without fonts, such as a small container, Java 17 throws a LinkageError or an InternalError,
            // and Java 25 throws a RuntimeException.
            throw new IOException(
                    "this machine cannot draw text (" + noFonts + "): install fontconfig and a font", noFonts);
        }
        return bytes.toByteArray();
    }

    private static XYChart chart(String title, String yAxis, Color... colors) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("time since training began (s)")
                .yAxisTitle(yAxis)
                .build();
        chart.getStyler().setLegendVisible(false);
        chart.getStyler().setChartTitleBoxVisible(false);
        chart.getStyler().setChartBackgroundColor(Color.WHITE);
        chart.getStyler().setPlotBorderVisible(false);
        chart.getStyler().setSeriesColors(colors);
        chart.getStyler().setXAxisMin(0.0);
        chart.getStyler().setYAxisLeftWidthHint(80);
        chart.getStyler().setYAxisDecimalPattern("#,##0.##");
        return chart;
    }

    /** The means over some steps, with the time when the last of these steps ended. */
    private record Point(double seconds, double charactersPerSecond, double communicationPercent) {}

    /** Returns the means over windows of time. A run that is shorter than one window gives one point. */
    private static List<Point> points(List<TrainingStep> steps) {
        List<Point> points = new ArrayList<>();
        long from = steps.get(0).startNanos();
        long characters = 0;
        long communication = 0;
        TrainingStep end = steps.get(steps.size() - 1);
        for (TrainingStep step : steps) {
            characters += step.characters();
            communication += step.communicationNanos();
            long window = step.endNanos() - from;
            if (window >= WINDOW_NANOS || (step == end && points.isEmpty())) {
                points.add(new Point(step.endNanos() / 1e9, characters * 1e9 / window, communication * 100.0 / window));
                from = step.endNanos();
                characters = 0;
                communication = 0;
            }
        }
        return points;
    }
}
