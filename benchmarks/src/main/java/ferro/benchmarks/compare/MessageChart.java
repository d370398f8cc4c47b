package ferro.benchmarks.compare;

import ferro.benchmarks.chart.Axis;
import ferro.benchmarks.chart.ChartLine;
import ferro.benchmarks.chart.ChartLine.LineStroke;
import ferro.benchmarks.chart.ChartLine.Point;
import ferro.benchmarks.chart.ChartPanel;
import ferro.benchmarks.chart.ChartPicture;
import ferro.benchmarks.chart.LineMedium;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * A picture of the control messages of a failure and of a leave, by number of ranks. Two lines show the messages before
 * and since ranks notify only neighbours.
 */
final class MessageChart {
    private static final int FIELDS = 4;
    private static final int EXTRA = 8;

    private MessageChart() {}

    /** A line of the file scale.csv; {@code before} is NaN if it could not be measured. */
    private record MessageTotals(String what, int ranks, double before, double now) {
        static MessageTotals of(String line) {
            String[] fields = line.split(",", FIELDS);
            double before = fields[2].isEmpty() ? Double.NaN : Double.parseDouble(fields[2]);
            return new MessageTotals(fields[0], Integer.parseInt(fields[1]), before, Double.parseDouble(fields[3]));
        }

        double goal() {
            return 2 * Math.ceil(Math.log(ranks) / Math.log(2)) + EXTRA;
        }
    }

    /**
     * Reads docs/performance/scale.csv and returns the picture. The first line of the file describes the machine, and
     * the second line names the fields.
     */
    static ChartPicture of(Path performance) throws IOException {
        List<String> lines = Files.readAllLines(performance.resolve("scale.csv"));
        List<MessageTotals> rows = lines.stream().skip(2).map(MessageTotals::of).toList();
        List<String> notes = List.of(
                lines.get(0).substring("# ".length()),
                "Control messages that a rank of the seeded simulation sends, in the mean. Before: each rank told all ranks.");
        return new ChartPicture(
                "How many messages a failure and a close cost each rank",
                notes,
                2,
                List.of(
                        panel("crash of one rank (lower is better)", rows, "failure"),
                        panel("close of all ranks (lower is better)", rows, "leaving")));
    }

    private static ChartPanel panel(String title, List<MessageTotals> all, String what) {
        List<MessageTotals> rows =
                all.stream().filter(row -> row.what.equals(what)).toList();
        List<Axis.Tick> ticks = rows.stream()
                .map(row -> new Axis.Tick(row.ranks, "" + row.ranks))
                .toList();
        double low = rows.stream()
                .flatMapToDouble(row -> DoubleStream.of(row.now, row.goal()))
                .min()
                .orElseThrow();
        double high = rows.stream()
                .flatMapToDouble(row -> DoubleStream.of(row.now, row.goal(), row.before))
                .filter(value -> !Double.isNaN(value))
                .max()
                .orElseThrow();
        List<Point> before = rows.stream()
                .filter(row -> !Double.isNaN(row.before))
                .map(row -> new Point(row.ranks, row.before))
                .toList();
        List<Point> now =
                rows.stream().map(row -> new Point(row.ranks, row.now)).toList();
        List<Point> goal =
                rows.stream().map(row -> new Point(row.ranks, row.goal())).toList();
        return new ChartPanel(
                title,
                Axis.of("ranks", ticks),
                Axis.factors("messages per rank", low, high),
                List.of(
                        new ChartLine("now", new LineStroke("ferro", LineMedium.SHARED_MEMORY), now),
                        new ChartLine("before", new LineStroke("soft", LineMedium.SHARED_MEMORY), before),
                        new ChartLine("goal", new LineStroke("soft", LineMedium.TCP), goal)));
    }
}
