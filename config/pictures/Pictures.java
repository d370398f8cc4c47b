import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Draws the pictures of the guide: for each collective, the arrays of all ranks before and after the call.
 *
 * <pre>
 * java config/pictures/Pictures.java                 draws docs/images/guide/calls.csv and docs/images/overview.csv
 * java config/pictures/Pictures.java THEME FILE...    reads colours from the file THEME, and draws other files
 * </pre>
 *
 * <p>The SVG files are written beside the file that they are drawn from. The colours are those of config/theme/theme.css.
 *
 * <p>A row of the file has the name of a picture, a part, a rank and a text. The parts are:
 *
 * <ul>
 * <li>{@code call}: title of the picture
 * <li>{@code says}: sentence below the title
 * <li>{@code note}: sentence below the picture
 * <li>{@code names}: names of the arrays before and after the call, as the call has them
 * <li>{@code before}, {@code after}: elements of the array of a rank. An element such as {@code 111@012} is the number
 *     111, made from elements of ranks 0, 1 and 2; {@code 0@} is made from no element. A hyphen is an element that the
 *     call ignores. No element is no array at all.
 * <li>{@code calls}: time at which a rank makes the call, in a picture of time
 * <li>{@code program}, {@code library}, {@code medium}: box of the picture of ferro; a bar separates its lines
 * </ul>
 *
 * <p>Each rank has one colour, which is light with dark text, so that it is legible on a white and on a dark page.
 */
class Pictures {
    private static final int WIDTH = 580;
    private static final int TOP = 102;
    private static final int ROW = 46;
    private static final int CELL = 52;
    private static final int BEFORE = 110;
    private static final int AFTER = 390;
    private static final int UNIT = 42;
    private static final int END_OF_TIME = 9;
    private static final int LAYERS = 310;
    private static final int NOTE = 20;
    private static final Pattern ENTRY = Pattern.compile("--([a-z0-9-]+): ([^;]+);");
    private static final String DARK = "@media (prefers-color-scheme: dark)";

    private final Map<String, String> light;
    private final Map<String, String> dark;
    private final StringBuilder svg = new StringBuilder();

    /** One row of the file. */
    private record Row(String picture, String part, String rank, String text) {
        int number() {
            return Integer.parseInt(rank);
        }
    }

    private Pictures(String theme) {
        light = entries(theme.substring(0, theme.indexOf(DARK)));
        dark = new LinkedHashMap<>(light);
        dark.putAll(entries(theme.substring(theme.indexOf(DARK))));
    }

    private static Map<String, String> entries(String theme) {
        Map<String, String> entries = new LinkedHashMap<>();
        ENTRY.matcher(theme).results().forEach(entry -> entries.put(entry.group(1), entry.group(2)));
        return entries;
    }

    public static void main(String[] arguments) throws IOException {
        List<String> files = arguments.length > 0
                ? List.of(arguments)
                : List.of("config/theme/theme.css", "docs/images/guide/calls.csv", "docs/images/overview.csv");
        String theme = Files.readString(Path.of(files.get(0)));
        for (String file : files.subList(1, files.size())) {
            for (Map.Entry<String, List<Row>> picture : pictures(Path.of(file)).entrySet()) {
                Path drawn = Path.of(file).resolveSibling(picture.getKey() + ".svg");
                Files.writeString(drawn, new Pictures(theme).drawn(picture.getValue()));
            }
        }
    }

    private static Map<String, List<Row>> pictures(Path file) throws IOException {
        Map<String, List<Row>> pictures = new LinkedHashMap<>();
        for (String line : Files.readAllLines(file).stream().skip(1).toList()) {
            String[] fields = line.split(",", 4);
            Row row = new Row(fields[0], fields[1], fields[2], fields[3].replace("\"", ""));
            pictures.computeIfAbsent(row.picture(), none -> new ArrayList<>()).add(row);
        }
        return pictures;
    }

    private static List<Row> of(String part, List<Row> rows) {
        return rows.stream().filter(row -> row.part().equals(part)).toList();
    }

    private String drawn(List<Row> rows) {
        boolean layers = !of("library", rows).isEmpty();
        int ranks = (int) rows.stream().filter(row -> !row.rank().isEmpty()).map(Row::rank).distinct().count();
        int bottom = layers ? LAYERS : TOP + ranks * ROW + 10;
        List<Row> notes = of("note", rows);
        int height = bottom + notes.size() * NOTE + (notes.isEmpty() ? 0 : 6);
        head(rows, height);
        if (layers) {
            layers(rows);
        } else {
            ranks(rows, ranks);
        }
        for (int i = 0; i < notes.size(); i++) {
            text("quiet", 20, bottom + 10 + i * NOTE, notes.get(i).text());
        }
        return svg.append("</svg>\n").toString();
    }

    private void head(List<Row> rows, int height) {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\" height=\"%2$d\" role=\"img\">",
                WIDTH, height);
        add("<title>%s: %s</title>", of("call", rows).get(0).text(), of("says", rows).get(0).text());
        style();
        add("<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>", WIDTH - 1, height - 1);
        text("call", 20, 36, of("call", rows).get(0).text());
        text("", 20, 62, of("says", rows).get(0).text());
    }

    private void style() {
        add("<style>");
        add("text { font: 14px %s; fill: %s }", light.get("font"), light.get("ink"));
        add(".page { fill: %s; stroke: %s }", light.get("page"), light.get("grid"));
        add(".call { font: 600 16px %s }", light.get("code"));
        add(".quiet { fill: %s; font-size: 13px }", light.get("soft"));
        add(".number { text-anchor: middle; fill: %s }", light.get("ink"));
        add(".small { text-anchor: middle; font-size: 12px; fill: %s }", light.get("soft"));
        add(".middle { text-anchor: middle }");
        add(".line { stroke: %s; stroke-width: 2; fill: none }", light.get("soft"));
        add(".tip { fill: %s }", light.get("soft"));
        add(".box { fill: none; stroke: %s }", light.get("soft"));
        add(".ignored { fill: none; stroke: %s; stroke-dasharray: 4 3 }", light.get("soft"));
        add(".ferro { fill: none; stroke: %s; stroke-width: 2.5 }", light.get("ferro"));
        add("%s {", DARK);
        add("text { fill: %s }", dark.get("ink"));
        add(".number { fill: %s }", light.get("ink"));
        add(".page { fill: %s; stroke: %s }", dark.get("page"), dark.get("grid"));
        add(".quiet, .small, .tip { fill: %s }", dark.get("soft"));
        add(".line, .box, .ignored { stroke: %s }", dark.get("soft"));
        add("}");
        add("</style>");
    }

    private void ranks(List<Row> rows, int ranks) {
        for (int rank = 0; rank < ranks; rank++) {
            String square = "<rect x=\"20\" y=\"%d\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>";
            add(square, top(rank) + 11, strong(rank));
            text("", 40, top(rank) + 22, "rank " + rank);
        }
        rows.forEach(this::draw);
        if (!of("calls", rows).isEmpty()) {
            callOfAll(rows, top(ranks));
            return;
        }
        String[] names = of("names", rows).get(0).text().split(" ");
        text("quiet", BEFORE, TOP - 10, names[0] + ", before");
        text("quiet", AFTER, TOP - 10, names[1] + ", after");
        arrow(BEFORE + 3 * CELL + 24, AFTER - 24, TOP + ranks * ROW / 2 - 6);
    }

    /** Draws the programs above, ferro below them, and the media at the bottom. */
    private void layers(List<Row> rows) {
        List<Row> programs = of("program", rows);
        List<Row> media = of("medium", rows);
        int programWidth = (WIDTH - 40 - (programs.size() - 1) * 14) / programs.size();
        for (int i = 0; i < programs.size(); i++) {
            int x = 20 + i * (programWidth + 14);
            bar(x, 84, programWidth, light(i), strong(i));
            text("number", x + programWidth / 2, 106, programs.get(i).text());
            link(x + programWidth / 2, 118, 146);
        }
        String[] library = of("library", rows).get(0).text().split("\\|");
        add("<rect class=\"ferro\" x=\"20\" y=\"148\" width=\"%d\" height=\"58\" rx=\"6\"/>", WIDTH - 40);
        text("middle", WIDTH / 2, 172, library[0]);
        text("small", WIDTH / 2, 192, library[1]);
        int width = (WIDTH - 40 - (media.size() - 1) * 14) / media.size();
        for (int i = 0; i < media.size(); i++) {
            int x = 20 + i * (width + 14);
            String[] lines = media.get(i).text().split("\\|");
            link(x + width / 2, 207, 234);
            add("<rect class=\"box\" x=\"%d\" y=\"236\" width=\"%d\" height=\"58\" rx=\"6\"/>", x, width);
            text("middle", x + width / 2, 260, lines[0]);
            text("small", x + width / 2, 280, lines[1]);
        }
    }

    /** Draws a short arrow in both directions: calls go down, results come up. */
    private void link(int x, int from, int to) {
        add("<path class=\"line\" d=\"M%d %dV%d\"/>", x, from + 8, to - 8);
        add("<path class=\"tip\" d=\"M%d %dl-5 -8h10z\"/>", x, to);
        add("<path class=\"tip\" d=\"M%d %dl-5 8h10z\"/>", x, from + 1);
    }

    private String strong(int rank) {
        return light.get("rank" + rank);
    }

    private String light(int rank) {
        return light.get("rank" + rank + "-light");
    }

    private void draw(Row row) {
        switch (row.part()) {
            case "before" -> elements(row, BEFORE);
            case "after" -> elements(row, AFTER);
            case "call", "says", "names", "note", "calls" -> {}
            default -> throw new IllegalArgumentException("no part " + row.part() + " of picture " + row.picture());
        }
    }

    private void elements(Row row, int left) {
        if (row.text().isEmpty()) {
            text("quiet", left, top(row.number()) + 22, "no array");
            return;
        }
        String[] elements = row.text().split(" ");
        for (int i = 0; i < elements.length; i++) {
            element(elements[i], left + i * CELL, top(row.number()));
        }
    }

    private void element(String element, int x, int y) {
        if (element.equals("-")) {
            add("<rect class=\"ignored\" x=\"%d\" y=\"%d\" width=\"48\" height=\"34\" rx=\"4\"/>", x, y);
            return;
        }
        String number = element.substring(0, element.indexOf('@'));
        int[] from = element.substring(number.length() + 1).chars().map(digit -> digit - '0').toArray();
        String fill = from.length == 1 ? light(from[0]) : "#f6f8fa";
        String edge = from.length == 1 ? strong(from[0]) : light.get("soft");
        bar(x, y, 48, fill, edge);
        for (int i = 0; i < from.length && from.length > 1; i++) {
            int width = 40 / from.length;
            String stripe = "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"5\" fill=\"%s\"/>";
            add(stripe, x + 4 + i * width, y + 26, width, strong(from[i]));
        }
        text("number", x + 24, y + (from.length > 1 ? 19 : 22), number);
    }

    private void callOfAll(List<Row> rows, int bottom) {
        int last = 0;
        for (Row row : rows) {
            last = Math.max(last, row.part().equals("calls") ? Integer.parseInt(row.text()) : 0);
        }
        for (Row row : rows) {
            if (row.part().equals("calls")) {
                times(row, Integer.parseInt(row.text()), last);
            }
        }
        int x = BEFORE + last * UNIT;
        add("<path class=\"line\" d=\"M%d %dV%d\"/>", x, TOP - 5, bottom - 6);
        text("quiet", x - 92, TOP - 14, "all ranks have made the call");
        text("quiet", BEFORE, TOP - 14, "time");
        arrow(BEFORE + 40, BEFORE + 120, TOP - 18);
    }

    private void times(Row row, int call, int last) {
        int y = top(row.number());
        span(row, 0, call, "computes");
        if (call < last) {
            int x = BEFORE + call * UNIT;
            int width = (last - call) * UNIT;
            add("<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"34\" rx=\"4\"/>", x, y, width);
            text("quiet", x + 10, y + 22, "waits");
        }
        span(row, last, END_OF_TIME, "continues");
    }

    private void span(Row row, int from, int to, String what) {
        int y = top(row.number());
        bar(BEFORE + from * UNIT, y, (to - from) * UNIT, light(row.number()), strong(row.number()));
        text("number", BEFORE + (from + to) * UNIT / 2, y + 22, what);
    }

    private void bar(int x, int y, int width, String fill, String edge) {
        String bar = "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"34\" rx=\"4\" fill=\"%s\" stroke=\"%s\"/>";
        add(bar, x, y, width, fill, edge);
    }

    private void arrow(int from, int to, int y) {
        add("<path class=\"line\" d=\"M%d %dH%d\"/>", from, y, to - 8);
        add("<path class=\"tip\" d=\"M%d %dl-10 -6v12z\"/>", to, y);
    }

    private void text(String style, int x, int y, String text) {
        add("<text%s x=\"%d\" y=\"%d\">%s</text>", style.isEmpty() ? "" : " class=\"" + style + "\"", x, y, text);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(format, values)).append('\n');
    }

    private static int top(int rank) {
        return TOP + rank * ROW;
    }
}
