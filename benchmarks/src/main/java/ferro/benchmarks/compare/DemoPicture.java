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
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The plot of a run of the demo. The plot is drawn from the output of {@code ./ferro demo}. */
final class DemoPicture {
    private static final Pattern STEP =
            Pattern.compile("\\[0\\] +([\\d.]+) s  step [\\d,]+  loss ([\\d.]+) +([\\d,]+) characters/s");
    private static final Pattern ANSWER = Pattern.compile("\\[0\\] are (\\d+) ranks faster than one\\? "
            + "(yes|no), ([\\d.]+) times as fast on (\\d+) cores?: [\\d,]+ characters/s beside ([\\d,]+) of one rank");

    private DemoPicture() {}

    /** Reads the output of the demo from a file. */
    static ChartPicture of(Path printed) throws IOException {
        String text = Files.readString(printed);
        List<MatchResult> steps = STEP.matcher(text).results().toList();
        MatchResult answer = ANSWER.matcher(text)
                .results()
                .findFirst()
                .orElseThrow(() -> new IOException(printed + " has no line \"are N ranks faster than one?\""));
        List<Point> losses = new ArrayList<>();
        List<Point> speeds = new ArrayList<>();
        for (MatchResult step : steps) {
            losses.add(new Point(number(step.group(1)), number(step.group(2))));
            speeds.add(new Point(number(step.group(1)), number(step.group(3))));
        }
        String ranks = answer.group(1) + " ranks";
        double alone = number(answer.group(5));
        double end = losses.get(losses.size() - 1).x();
        List<Point> level = List.of(new Point(0, alone), new Point(end, alone));
        double fastest =
                Math.max(alone, speeds.stream().mapToDouble(Point::y).max().orElse(alone));
        Axis seconds = Axis.linear("seconds of training", end);
        ChartPanel loss = new ChartPanel(
                "error of the model (lower is better)",
                seconds,
                Axis.linear("loss, cross-entropy per character", losses.get(0).y()),
                List.of(line(ranks, "ferro", losses)));
        ChartPanel speed = new ChartPanel(
                "speed (higher is better)",
                seconds,
                Axis.linear("characters per second", fastest),
                List.of(line(ranks, "ferro", speeds), line("1 rank", "soft", level)));
        String title = "Are " + ranks + " faster than one? " + (answer.group(2).equals("yes") ? "Yes" : "No") + ", "
                + answer.group(3) + " times as fast on " + answer.group(4) + " cores";
        return new ChartPicture(title, notes(printed), 2, List.of(loss, speed));
    }

    private static List<String> notes(Path printed) throws IOException {
        List<String> notes = new ArrayList<>(MachineDescription.notes(printed.getParent()));
        notes.add("The first seconds are slow: the JVM compiles the program. 1 rank was measured after the training.");
        notes.add("\"Times as fast\" compares the median step after this warm-up, not the average of the training.");
        return notes;
    }

    private static ChartLine line(String label, String color, List<Point> points) {
        return new ChartLine(label, new LineStroke(color, LineMedium.SHARED_MEMORY), points);
    }

    private static double number(String text) {
        return Double.parseDouble(text.replace(",", ""));
    }
}
