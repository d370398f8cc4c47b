package ferro.examples.textmodel;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws loss and throughput over time, one above the other. */
final class TrainingPlot {
    private static final Color LOSS = new Color(0x1F5FA8);
    private static final Color THROUGHPUT = new Color(0xB4551D);
    private static final int WIDTH = 900;
    private static final int HEIGHT = 330;

    /** Steps are short; speed is shown as the mean over this much time. */
    private static final long WINDOW_NANOS = 500_000_000L;

    private TrainingPlot() {}

    /**
     * Writes the plot.
     *
     * @param steps     at least one
     * @param worldSize ranks that trained
     * @param file      PNG, replaced if it exists
     * @throws IOException if the file cannot be written, or this machine has no fonts
     */
    static void write(List<TrainingStep> steps, int worldSize, Path file) throws IOException {
        XYChart loss =
                chart("Loss of one model trained by " + worldSize + " processes", "loss (nats per character)", LOSS);
        loss.addSeries("loss", seconds(steps), losses(steps)).setMarker(SeriesMarkers.NONE);
        XYChart speed = chart("Throughput, all processes together", "characters per second", THROUGHPUT);
        List<double[]> points = speeds(steps);
        speed.addSeries("throughput", points.get(0), points.get(1)).setMarker(SeriesMarkers.NONE);
        speed.getStyler().setYAxisMin(0.0);
        Files.write(file, picture(List.of(loss, speed)));
    }

    /** Draws into memory first, so that a machine that cannot draw leaves no empty file. */
    private static byte[] picture(List<XYChart> charts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BitmapEncoder.saveBitmap(charts, charts.size(), 1, bytes, BitmapFormat.PNG);
        } catch (LinkageError | InternalError | RuntimeException noFonts) {
            // On a machine without fonts, such as a small container, Java 17 throws the first two, and Java 25 the
            // last.
            throw new IOException(
                    "this machine cannot draw text (" + noFonts + "): install fontconfig and a font", noFonts);
        }
        return bytes.toByteArray();
    }

    private static XYChart chart(String title, String yAxis, Color color) {
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
        chart.getStyler().setSeriesColors(new Color[] {color});
        chart.getStyler().setXAxisMin(0.0);
        chart.getStyler().setYAxisLeftWidthHint(80);
        chart.getStyler().setYAxisDecimalPattern("#,##0.##");
        return chart;
    }

    private static double[] seconds(List<TrainingStep> steps) {
        return steps.stream().mapToDouble(step -> step.endNanos() / 1e9).toArray();
    }

    private static double[] losses(List<TrainingStep> steps) {
        return steps.stream().mapToDouble(TrainingStep::loss).toArray();
    }

    /** Returns times and speeds; a run shorter than one window is one point. */
    private static List<double[]> speeds(List<TrainingStep> steps) {
        List<double[]> points = new ArrayList<>();
        long from = steps.get(0).startNanos();
        long characters = 0;
        TrainingStep end = steps.get(steps.size() - 1);
        for (TrainingStep step : steps) {
            characters += step.characters();
            long window = step.endNanos() - from;
            if (window >= WINDOW_NANOS || (step == end && points.isEmpty())) {
                points.add(new double[] {step.endNanos() / 1e9, characters * 1e9 / window});
                from = step.endNanos();
                characters = 0;
            }
        }
        return List.of(
                points.stream().mapToDouble(point -> point[0]).toArray(),
                points.stream().mapToDouble(point -> point[1]).toArray());
    }
}
