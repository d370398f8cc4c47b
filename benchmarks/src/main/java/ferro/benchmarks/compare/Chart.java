package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.Item;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Draws the time of one call over the size of its data, both on logarithmic axes, with a line per contestant. The lines of
 * ferro are thick.
 */
final class Chart {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 620;
    private static final int FEWEST_SIZES = 2;
    private static final Color GRID = new Color(0xE4E4E4);
    private static final List<Color> OURS =
            List.of(new Color(0xC8102E), new Color(0xF28E2B), new Color(0x8B1A6B), new Color(0xE15759));
    private static final List<Color> OTHERS = List.of(
            new Color(0x1F5FA8),
            new Color(0x2E8B57),
            new Color(0x7F7F7F),
            new Color(0x17A2B8),
            new Color(0x6B4E9B),
            new Color(0x8C6D31));

    private Chart() {}

    /**
     * Writes a chart, if there is more than one size.
     *
     * @param items  sizes of one collective and world size
     * @param medium whose contestants are drawn
     * @param folder folder for the PNG
     */
    static void write(Ratios ratios, List<Item> items, MediumName medium, Path folder) throws IOException {
        Item first = items.get(0);
        XYChart chart = empty(first.collective() + " of f32 by " + first.ranks() + " ranks, " + medium.label());
        int ours = 0;
        int others = 0;
        for (String name : ratios.contestants()) {
            List<Item> measured = items.stream()
                    .filter(item ->
                            item.bytes() > 0 && ratios.micros(item, name).isPresent())
                    .toList();
            if (MediumName.of(name) != medium || measured.size() < FEWEST_SIZES) {
                continue;
            }
            boolean mine = MediumName.ours(name);
            Color color = mine ? OURS.get(ours++ % OURS.size()) : OTHERS.get(others++ % OTHERS.size());
            add(chart, ratios, measured, name, color);
        }
        if (ours + others > 0) {
            String file = first.collective() + "-" + first.ranks() + "-"
                    + medium.label().replace(' ', '-') + ".png";
            Files.write(folder.resolve(file), picture(chart));
        }
    }

    private static void add(XYChart chart, Ratios ratios, List<Item> measured, String name, Color color) {
        double[] powers = measured.stream()
                .mapToDouble(item -> Math.log(item.bytes()) / Math.log(2))
                .toArray();
        double[] micros = measured.stream()
                .mapToDouble(item -> ratios.micros(item, name).orElseThrow().middle())
                .toArray();
        XYSeries series = chart.addSeries(name, powers, micros);
        series.setLineStyle(new BasicStroke(MediumName.ours(name) ? 3.5f : 1.5f));
        series.setLineColor(color);
        series.setMarker(MediumName.ours(name) ? SeriesMarkers.CIRCLE : SeriesMarkers.DIAMOND);
        series.setMarkerColor(color);
    }

    private static XYChart empty(String title) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("size")
                .yAxisTitle("median time of one call (us)")
                .build();
        chart.getStyler().setChartTitleBoxVisible(false);
        chart.getStyler().setChartBackgroundColor(Color.WHITE);
        chart.getStyler().setPlotBorderVisible(false);
        chart.getStyler().setPlotGridLinesColor(GRID);
        chart.getStyler().setLegendPosition(LegendPosition.InsideNW);
        chart.getStyler().setMarkerSize(6);
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setYAxisTickLabelsFormattingFunction(Chart::micros);
        chart.getStyler().setXAxisTickMarkSpacingHint(60);
        chart.getStyler().setXAxisTickLabelsFormattingFunction(Chart::size);
        return chart;
    }

    /** Returns the label of a power of two; empty for other values. */
    private static String size(double power) {
        return power == Math.rint(power) && power >= 0 ? Sizes.label(1L << (int) power) : "";
    }

    private static String micros(double value) {
        return value >= 1 ? String.format(Locale.ROOT, "%,.0f", value) : String.format(Locale.ROOT, "%.2f", value);
    }

    /** Draws into memory first, so that a machine that cannot draw leaves no empty file. */
    private static byte[] picture(XYChart chart) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BitmapEncoder.saveBitmap(List.of(chart), 1, 1, bytes, BitmapFormat.PNG);
        } catch (LinkageError | InternalError | RuntimeException noFonts) {
            // the type of exception depends on the JDK
            throw new IOException(
                    "this machine cannot draw text (" + noFonts + "): install fontconfig and a font", noFonts);
        }
        return bytes.toByteArray();
    }
}
