package ferro.benchmarks.compare;

import ferro.benchmarks.chart.Axis;
import ferro.benchmarks.chart.ChartLine;
import ferro.benchmarks.chart.ChartLine.LineStroke;
import ferro.benchmarks.chart.ChartLine.Point;
import ferro.benchmarks.chart.ChartPanel;
import ferro.benchmarks.chart.ChartPicture;
import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.SizedCall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A chart with one line per library. The chart shows the time of a call over the data size. A second panel shows the
 * time as a multiple of ferro's time.
 */
final class Chart {
    private static final int FEWEST_SIZES = 2;
    private static final double SIZES_PER_TICK = 3;

    private final Ratios ratios;
    private final List<SizedCall> items;
    private final TransportMedium medium;

    /**
     * Prepares a chart.
     *
     * @param items  sizes of one collective and one world size
     * @param medium medium of the contestants that are drawn
     */
    Chart(Ratios ratios, List<SizedCall> items, TransportMedium medium) {
        this.ratios = ratios;
        this.items = items.stream().filter(item -> item.bytes() > 0).toList();
        this.medium = medium;
    }

    /**
     * Writes a chart as SVG and PNG, if ferro or another library has more than one size.
     *
     * @param notes lines of text below the chart, for example about the machine
     */
    void write(List<String> notes, Path folder) throws IOException {
        List<Library> drawn = libraries();
        if (!drawn.isEmpty()) {
            SizedCall first = items.get(0);
            String name = first.collective() + "-" + first.ranks() + "-"
                    + medium.label().replace(' ', '-');
            String title = "How long one " + first.collective() + " of " + first.ranks() + " ranks takes over "
                    + medium.words();
            new ChartPicture(title, notes(drawn, notes), 2, panels()).write(folder, name);
        }
    }

    /** Returns the panel of times and, if a library other than ferro was measured, the panel of ratios. */
    List<ChartPanel> panels() {
        List<Library> drawn = libraries();
        List<ChartPanel> panels = new ArrayList<>();
        List<ChartLine> times = lines(
                drawn,
                library -> item -> ratios.micros(item, library.contestant()).map(MedianSummary::middle));
        panels.add(panel(medium.words() + ": time (lower is better)", "microseconds for one call, logarithmic", times));
        Optional<Library> ferro = drawn.stream().filter(Library::ours).findFirst();
        if (ferro.isPresent() && drawn.size() > 1) {
            List<ChartLine> multiples = lines(drawn, library -> item -> multiple(item, ferro.get(), library));
            panels.add(panel(
                    medium.words() + ": ratio (lower is better)",
                    "time divided by the time of ferro, logarithmic",
                    multiples));
        }
        return panels;
    }

    private List<Library> libraries() {
        List<String> measured = ratios.contestants().stream()
                .filter(name -> TransportMedium.of(name) == medium)
                .filter(name -> items.stream()
                                .filter(item -> ratios.micros(item, name).isPresent())
                                .count()
                        >= FEWEST_SIZES)
                .toList();
        return Library.drawn(measured);
    }

    private List<String> notes(List<Library> drawn, List<String> notes) {
        List<String> others = new ArrayList<>(ratios.contestants().stream()
                .filter(name -> TransportMedium.of(name) == medium)
                .toList());
        drawn.forEach(library -> others.remove(library.contestant()));
        List<String> all = new ArrayList<>(notes);
        if (!others.isEmpty()) {
            all.add("measured, but not drawn (see ratios.md): " + String.join(", ", others));
        }
        return all;
    }

    private List<ChartLine> lines(List<Library> drawn, Function<Library, Function<SizedCall, Optional<Double>>> value) {
        List<ChartLine> lines = new ArrayList<>();
        for (Library library : drawn) {
            List<Point> points = new ArrayList<>();
            for (SizedCall item : items) {
                value.apply(library).apply(item).ifPresent(number -> points.add(new Point(item.bytes(), number)));
            }
            if (!points.isEmpty()) {
                points.sort(Comparator.comparingDouble(Point::x));
                lines.add(new ChartLine(library.label(), new LineStroke(library.color(), medium.dash()), points));
            }
        }
        return lines;
    }

    private static ChartPanel panel(String title, String caption, List<ChartLine> lines) {
        List<Point> all = lines.stream().flatMap(line -> line.points().stream()).toList();
        double low = all.stream().mapToDouble(Point::y).min().orElseThrow();
        double high = all.stream().mapToDouble(Point::y).max().orElseThrow();
        return new ChartPanel(title, sizes(all), Axis.factors(caption, low, high), lines);
    }

    private static Axis sizes(List<Point> points) {
        List<Double> sizes = points.stream().map(Point::x).distinct().sorted().toList();
        // the first and the last size have a label; the others have one where there is room
        double apart = Math.log(sizes.get(sizes.size() - 1) / sizes.get(0)) / (2 * SIZES_PER_TICK);
        List<Axis.Tick> ticks = new ArrayList<>();
        double last = sizes.get(sizes.size() - 1);
        for (double size : sizes) {
            boolean roomy = ticks.isEmpty()
                    || Math.log(size / ticks.get(ticks.size() - 1).value()) >= apart && Math.log(last / size) >= apart;
            if (roomy || size == last) {
                ticks.add(new Axis.Tick(size, SizeFormatter.label((long) size)));
            }
        }
        return Axis.of("size of the data of a rank, logarithmic", ticks);
    }

    /** Returns the time of a library divided by ferro's time, in the machine's state in which most rounds were made. */
    private Optional<Double> multiple(SizedCall item, Library ferro, Library other) {
        if (other.ours()) {
            return ratios.micros(item, other.contestant()).map(micros -> 1.0);
        }
        return EnumSet.complementOf(EnumSet.of(CoreDistance.CHANGED)).stream()
                .flatMap(state -> ratios.ratio(item, ferro.contestant(), other.contestant(), state).stream())
                .max(Comparator.comparingInt(ratio -> ratio.ratio().count()))
                .map(ratio -> 1 / ratio.ratio().middle());
    }
}
