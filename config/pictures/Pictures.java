import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Draws the pictures of the guide: for each collective, the arrays of all ranks before and after the call.
 *
 * <pre>
 * java config/pictures/Pictures.java           reads docs/images/guide/calls.csv, and writes SVG files beside it
 * java config/pictures/Pictures.java FOLDER    reads FOLDER/calls.csv
 * </pre>
 *
 * <p>A row of the file has the name of a picture, a part, a rank and a text. The parts are:
 *
 * <ul>
 * <li>{@code call}: title of the picture
 * <li>{@code says}: sentence below the title
 * <li>{@code before}, {@code after}: elements of the array of a rank. An element such as {@code 111@012} is the number
 *     111, made from elements of ranks 0, 1 and 2. A hyphen is an element that the call ignores. No element is no
 *     array at all.
 * <li>{@code calls}: time at which a rank makes the call, in a picture of time
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
    private static final String[] STRONG = {"#0072b2", "#c77700", "#00795a"};
    private static final String[] LIGHT = {"#b9ddf1", "#fde0a6", "#b7e4d2"};
    private static final String STYLE = """
            <style>
            text { font: 14px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
            .page { fill: #ffffff; stroke: #d0d7de }
            .call { font: 600 16px ui-monospace, Menlo, Consolas, monospace }
            .quiet { fill: #57606a }
            .number { text-anchor: middle; fill: #1f2328 }
            .line { stroke: #57606a; stroke-width: 2; fill: none }
            .tip { fill: #57606a }
            .ignored { fill: none; stroke: #8c959f; stroke-dasharray: 4 3 }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 }
            .page { fill: #0d1117; stroke: #3d444d }
            .quiet { fill: #9da7b1 }
            .line { stroke: #9da7b1 }
            .tip { fill: #9da7b1 }
            }
            </style>
            """;

    private final StringBuilder svg = new StringBuilder();

    /** One row of the file. */
    private record Row(String picture, String part, String rank, String text) {
        int number() {
            return Integer.parseInt(rank);
        }
    }

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments.length > 0 ? arguments[0] : "docs/images/guide");
        Map<String, List<Row>> pictures = new LinkedHashMap<>();
        for (String line : Files.readAllLines(folder.resolve("calls.csv")).stream().skip(1).toList()) {
            String[] fields = line.split(",", 4);
            Row row = new Row(fields[0], fields[1], fields[2], fields[3].replace("\"", ""));
            pictures.computeIfAbsent(row.picture(), none -> new ArrayList<>()).add(row);
        }
        for (Map.Entry<String, List<Row>> picture : pictures.entrySet()) {
            Files.writeString(folder.resolve(picture.getKey() + ".svg"), new Pictures().drawn(picture.getValue()));
        }
    }

    private String drawn(List<Row> rows) {
        long ranks = rows.stream().filter(row -> !row.rank().isEmpty()).map(Row::rank).distinct().count();
        int height = TOP + (int) ranks * ROW + 10;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\" height=\"%2$d\">",
                WIDTH, height);
        svg.append(STYLE);
        add("<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>", WIDTH - 1, height - 1);
        for (int rank = 0; rank < ranks; rank++) {
            String square = "<rect x=\"20\" y=\"%d\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>";
            add(square, top(rank) + 11, STRONG[rank]);
            text("", 40, top(rank) + 22, "rank " + rank);
        }
        boolean ofTime = false;
        for (Row row : rows) {
            ofTime |= row.part().equals("calls");
            draw(row);
        }
        if (ofTime) {
            callOfAll(rows, top((int) ranks));
        } else {
            text("quiet", BEFORE, TOP - 10, "before");
            text("quiet", AFTER, TOP - 10, "after");
            arrow(BEFORE + 3 * CELL + 24, AFTER - 24, TOP + (int) ranks * ROW / 2 - 6);
        }
        return svg.append("</svg>\n").toString();
    }

    private void draw(Row row) {
        switch (row.part()) {
            case "call" -> text("call", 20, 36, row.text());
            case "says" -> text("", 20, 62, row.text());
            case "before" -> elements(row, BEFORE);
            case "after" -> elements(row, AFTER);
            case "calls" -> {}
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
        String fill = from.length == 1 ? LIGHT[from[0]] : "#f6f8fa";
        String edge = from.length == 1 ? STRONG[from[0]] : "#57606a";
        bar(x, y, 48, fill, edge);
        for (int i = 0; i < from.length && from.length > 1; i++) {
            int width = 40 / from.length;
            String stripe = "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"5\" fill=\"%s\"/>";
            add(stripe, x + 4 + i * width, y + 26, width, STRONG[from[i]]);
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
        add("<path class=\"line\" d=\"M%d %dV%d\"/>", x, TOP - 6, bottom - 6);
        text("quiet", x - 92, TOP - 12, "all ranks have made the call");
        text("quiet", BEFORE, TOP - 12, "time");
        arrow(BEFORE + 40, BEFORE + 120, TOP - 16);
    }

    private void times(Row row, int call, int last) {
        int y = top(row.number());
        span(row, 0, call, "computes");
        if (call < last) {
            int x = BEFORE + call * UNIT;
            int width = (last - call) * UNIT;
            add("<rect class=\"ignored\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"34\" rx=\"4\"/>", x, y, width);
            text("quiet", x + 10, y + 22, "waits");
        }
        span(row, last, END_OF_TIME, "continues");
    }

    private void span(Row row, int from, int to, String what) {
        int y = top(row.number());
        bar(BEFORE + from * UNIT, y, (to - from) * UNIT, LIGHT[row.number()], STRONG[row.number()]);
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
