package ferro.benchmarks.chart;

import ferro.benchmarks.chart.ChartLine.LineStroke;
import ferro.benchmarks.chart.PictureMark.Anchor;
import ferro.benchmarks.chart.PictureMark.StrokeMark;
import ferro.benchmarks.chart.PictureMark.TextMark;
import ferro.benchmarks.chart.PictureMark.TextRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A picture of one or more panels, as SVG for light and dark pages and as PNG. A label stands at the end of each line,
 * so the picture needs no legend.
 *
 * @param title what the picture shows
 * @param notes lines of text below the panels, about the machine and about what is not drawn
 * @param columns number of panels in a row
 * @param panels panels, row by row
 */
public record ChartPicture(String title, List<String> notes, int columns, List<ChartPanel> panels) {
    static final int PANEL_WIDTH = 430;
    static final int PANEL_HEIGHT = 280;
    private static final int HEAD = 36;
    private static final int NOTE = 18;
    private static final int NOTE_LETTER = 8;
    private static final int LABEL_APART = 15;
    private static final int LEADER = 16;

    /**
     * Creates a picture, and breaks long notes into lines.
     *
     * @param title what the picture shows
     * @param notes lines of text below the panels
     * @param columns number of panels in a row
     * @param panels panels, row by row
     */
    public ChartPicture {
        notes = notes.stream()
                .flatMap(note -> wrapped(note, columns * PANEL_WIDTH / NOTE_LETTER).stream())
                .toList();
        panels = List.copyOf(panels);
    }

    /** Breaks a note into lines of at most {@code letters} letters. */
    private static List<String> wrapped(String note, int letters) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : note.split(" ")) {
            if (line.length() > 0 && line.length() + 1 + word.length() > letters) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.length() > 0 ? " " : "").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    /**
     * Writes the picture as an SVG file and as a PNG file.
     *
     * @param folder folder of the files
     * @param name name of the files without the ending
     * @throws IOException if a file cannot be written, or this machine has no fonts
     */
    public void write(Path folder, String name) throws IOException {
        Files.write(folder.resolve(name + ".png"), PngWriter.png(this));
        Files.writeString(folder.resolve(name + ".svg"), svg());
    }

    /** {@return the picture as SVG: XML with a style for light and dark pages} */
    public String svg() {
        return SvgWriter.svg(this);
    }

    int width() {
        return columns * PANEL_WIDTH;
    }

    int height() {
        return HEAD + (panels.size() + columns - 1) / columns * PANEL_HEIGHT + NOTE * notes.size() + 10;
    }

    int left(int panel) {
        return panel % columns * PANEL_WIDTH;
    }

    int top(int panel) {
        return HEAD + panel / columns * PANEL_HEIGHT;
    }

    /** Returns the title and the notes. */
    List<PictureMark> frame() {
        List<PictureMark> marks = new ArrayList<>();
        marks.add(new TextMark(TextRole.TITLE, Anchor.START, 14, 26, title));
        for (int i = 0; i < notes.size(); i++) {
            marks.add(new TextMark(
                    TextRole.NOTE, Anchor.START, 14, height() - 12 - NOTE * (notes.size() - 1 - i), notes.get(i)));
        }
        return marks;
    }

    /** Returns the lines of a panel. The first line is drawn on top of the other lines. */
    List<PictureMark> lines(int index) {
        PanelPlot plot = plot(index);
        List<PictureMark> marks = new ArrayList<>();
        for (ChartLine line : panels.get(index).lines()) {
            double[] x = line.points().stream()
                    .mapToDouble(point -> plot.x(point.x()))
                    .toArray();
            double[] y = line.points().stream()
                    .mapToDouble(point -> plot.y(point.y()))
                    .toArray();
            marks.add(0, new StrokeMark("line", line.stroke(), x, y));
        }
        return marks;
    }

    /** Returns the grid, the axes and all texts of a panel. */
    List<PictureMark> around(int index) {
        ChartPanel panel = panels.get(index);
        PanelPlot plot = plot(index);
        List<PictureMark> marks = new ArrayList<>();
        LineStroke grid = new LineStroke("grid", LineMedium.SHARED_MEMORY);
        marks.add(new TextMark(TextRole.PANEL, Anchor.START, left(index) + 14, top(index) + 20, panel.title()));
        for (Axis.Tick tick : panel.y().ticks()) {
            double y = plot.y(tick.value());
            marks.add(new StrokeMark("grid", grid, new double[] {plot.left(), plot.right()}, new double[] {y, y}));
            marks.add(new TextMark(TextRole.TICK, Anchor.END, plot.left() - 6, y + 4, tick.label()));
        }
        for (Axis.Tick tick : panel.x().ticks()) {
            double x = plot.x(tick.value());
            double[] ends = {plot.bottom(), plot.bottom() + 5};
            marks.add(new StrokeMark("grid", grid, new double[] {x, x}, ends));
            marks.add(new TextMark(TextRole.TICK, Anchor.MIDDLE, x, plot.bottom() + 18, tick.label()));
        }
        marks.add(new TextMark(
                TextRole.TICK,
                Anchor.START,
                left(index) + 14,
                top(index) + 38,
                panel.y().caption()));
        double middle = (plot.left() + plot.right()) / 2;
        marks.add(new TextMark(
                TextRole.TICK,
                Anchor.MIDDLE,
                middle,
                plot.bottom() + 36,
                panel.x().caption()));
        labels(panel, plot, marks);
        return marks;
    }

    private static void labels(ChartPanel panel, PanelPlot plot, List<PictureMark> marks) {
        double[] ends = panel.lines().stream()
                .mapToDouble(line -> plot.y(last(line).y()))
                .toArray();
        double[] heights = LabelSpreader.spread(ends, LABEL_APART, plot.top(), plot.bottom());
        for (int i = 0; i < ends.length; i++) {
            ChartLine line = panel.lines().get(i);
            double[] x = {plot.x(last(line).x()) + 3, plot.right() + LEADER};
            LineStroke leader = new LineStroke(line.stroke().color(), LineMedium.SHARED_MEMORY);
            marks.add(new StrokeMark("leader", leader, x, new double[] {ends[i], heights[i]}));
            marks.add(new TextMark(
                    TextRole.LABEL, Anchor.START, plot.right() + LEADER + 4, heights[i] + 4.5, line.label()));
        }
    }

    private static ChartLine.Point last(ChartLine line) {
        return line.points().get(line.points().size() - 1);
    }

    private PanelPlot plot(int index) {
        return new PanelPlot(panels.get(index), left(index), top(index));
    }
}
