import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A generator of source files from templates: {@code java Expand.java <folder of sources> <template>...}.
 *
 * <p>A line of a template that begins with # is a directive. Every other line goes to the file that the last
 * {@code #file} names.
 * <ul>
 * <li>{@code #table name  column  column} begins a table, and each line {@code #  cell  cell} below adds a row. Two blanks or more
 *     separate cells. A dash is an empty cell.
 * <li>{@code #row name} adds a row to a table, with a cell in each line {@code #  column  text} below. Lines without a column
 *     continue the text, from the position where the text began.
 * <li>{@code #page name path} adds to each row of a table the cells of the row that begins with its cell {@code name} in a table
 *     of a page in Markdown. The rows get the order of the page. Text with blanks becomes Javadoc without links.
 * <li>{@code #for name ... #end} repeats lines for each row of a table. With a question mark after the name, the table
 *     may be missing. If a row lacks a cell, the cell of the outer row is used. If the outer row lacks the cell
 *     too, but another row of the table has it, the cell is empty.
 * <li>{@code #if column ... #else ... #end} takes the first lines if the cell of the current row is not empty, else the
 *     second lines.
 * <li>{@code #file path} begins a file.
 * <li>{@code ## text} is a comment.
 * </ul>
 * In text, paths and cells, {@code ${column}} stands for the cell of the current row, and {@code ${column(x, y)}} for a
 * cell with x in place of the word a and y in place of the word b. All lines of a cell after the first line begin with
 * the same blanks and stars as the line of the template that names the cell.
 *
 * <p>A file with the right content is not touched, so that nothing is compiled again. Files that a template has made
 * earlier, but that no template makes now, are deleted.
 */
final class Expand {
    private static final String MADE = "// Made from ";
    private static final Pattern VALUE = Pattern.compile("\\$\\{(\\w+)(?:\\((.*?), (.*?)\\))?}");
    private static final Pattern CELL = Pattern.compile("#  (\\w+) +(?=\\S)");
    private static final Pattern MARGIN = Pattern.compile("^[ *]*");
    private static final Pattern OPERAND = Pattern.compile("\\b[ab]\\b");

    private final Path template;
    private final List<String> lines;
    private final Map<String, List<Map<String, String>>> tables = new HashMap<>();
    private final Map<String, StringBuilder> files = new TreeMap<>();
    private StringBuilder file;

    private Expand(Path template) throws IOException {
        this.template = template;
        this.lines = Files.readAllLines(template);
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            throw new IllegalArgumentException("usage: java Expand.java <folder of sources> <template>...");
        }
        Path folder = Path.of(arguments[0]);
        TreeSet<String> made = new TreeSet<>();
        for (int i = 1; i < arguments.length; i++) {
            Expand expansion = new Expand(Path.of(arguments[i]));
            expansion.expand(0, expansion.lines.size(), Map.of());
            expansion.write(folder);
            made.addAll(expansion.files.keySet());
        }
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path path : found.filter(Files::isRegularFile).toList()) {
                String name = folder.relativize(path).toString().replace('\\', '/');
                if (!made.contains(name) && Files.readString(path).startsWith(MADE)) {
                    Files.delete(path);
                }
            }
        }
    }

    private void expand(int from, int to, Map<String, String> row) throws IOException {
        for (int at = from; at < to; at++) {
            String line = lines.get(at);
            String[] words = line.split(" +");
            switch (words[0]) {
                case "##" -> {}
                case "#table" -> at = readTable(at);
                case "#row" -> at = readRow(at);
                case "#page" -> readPage(words[1], template.resolveSibling(words[2]), at);
                case "#for" -> at = repeat(at, row);
                case "#if" -> at = choose(at, row);
                case "#file" ->
                    file = files.computeIfAbsent(
                            filled(words[1], at, row), path -> new StringBuilder(header()).append('\n'));
                default -> append(filled(line, at, row), at);
            }
        }
    }

    private String header() {
        return MADE + template.getFileName() + " by Expand.java: change that, not this file.";
    }

    private void append(String text, int at) {
        if (text.startsWith("#")) {
            throw wrong(at, "no such directive: " + text);
        }
        if (file != null) {
            file.append(text.replaceAll("(?m) +$", "")).append('\n');
        } else if (!text.isBlank()) {
            throw wrong(at, "text before the first #file: " + lines.get(at));
        }
    }

    /** Reads a table; returns the line of its last row. */
    private int readTable(int at) {
        List<String> columns = cells(at);
        List<Map<String, String>> rows = new ArrayList<>();
        int last = at;
        while (last + 1 < lines.size() && lines.get(last + 1).startsWith("# ")) {
            last++;
            List<String> cells = cells(last);
            if (cells.size() != columns.size()) {
                throw wrong(last, "expected " + columns + ", found " + cells);
            }
            Map<String, String> row = new HashMap<>();
            for (int i = 0; i < cells.size(); i++) {
                row.put(columns.get(i), cells.get(i).equals("-") ? "" : cells.get(i));
            }
            rows.add(row);
        }
        tables.put(lines.get(at).split(" +")[1], rows);
        return last;
    }

    /** Reads one row; returns the line of its last cell. */
    private int readRow(int at) {
        Map<String, String> row = new HashMap<>();
        String name = lines.get(at).substring("#row".length()).strip();
        tables.computeIfAbsent(name, table -> new ArrayList<>()).add(row);
        String column = "";
        int begin = 0;
        int last = at;
        while (last + 1 < lines.size() && lines.get(last + 1).matches("#(  .*)?")) {
            String line = lines.get(++last);
            Matcher cell = CELL.matcher(line);
            if (cell.lookingAt()) {
                column = cell.group(1);
                begin = cell.end();
                row.put(column, line.substring(begin).equals("-") ? "" : line.substring(begin));
            } else if (column.isEmpty()
                    || !line.substring(1, Math.min(begin, line.length())).isBlank()) {
                throw wrong(last, "neither a cell nor more of the one above: " + line);
            } else {
                row.merge(column, "\n" + line.substring(Math.min(begin, line.length())), String::concat);
            }
        }
        return last;
    }

    private void readPage(String table, Path page, int at) throws IOException {
        Map<String, Map<String, String>> waiting = new HashMap<>();
        tables.get(table).forEach(row -> waiting.put(row.get("name"), row));
        List<Map<String, String>> ordered = new ArrayList<>();
        String[] columns = {};
        String before = "";
        for (String line : Files.readAllLines(page)) {
            if (line.startsWith("|---")) {
                columns = before.split(" *\\| *");
            } else if (!line.startsWith("|")) {
                columns = new String[0];
            } else if (columns.length > 0) {
                String[] cells = line.split(" *\\| *");
                String name = (cells[1].isEmpty() ? cells[2] : cells[1]).replace("`", "");
                Map<String, String> row = waiting.remove(name);
                if (row == null || cells.length != columns.length) {
                    throw wrong(at, "no row of " + table + ", or another one with its name: " + line);
                }
                for (int i = 1; i < cells.length; i++) {
                    if (columns[i].equals("default") && !cells[i].matches("`[^`\"\\\\]*`|none|empty")
                            || cells[i].contains("*/")) {
                        throw wrong(at, "need a default in backticks, none or empty, and no end of a comment: " + line);
                    }
                    row.put(columns[i], javadoc(cells[i]));
                }
                ordered.add(row);
            }
            before = line;
        }
        if (!waiting.isEmpty()) {
            throw wrong(at, page + " lacks " + new TreeSet<>(waiting.keySet()));
        }
        tables.put(table, ordered);
    }

    private static String javadoc(String cell) {
        if (cell.matches("`[^`]*`|\\S*")) {
            return cell.replace("`", "");
        }
        String text = cell.replaceAll(" \\(\\[[^]]*]\\([^)]*\\)\\)", "").replaceAll("`([^`]*)`", "{@code $1}");
        return Character.toUpperCase(text.charAt(0)) + text.substring(1) + (text.endsWith(".") ? "" : ".");
    }

    /** Returns the text after the first two blanks of a line. */
    private List<String> cells(int at) {
        String[] cells = lines.get(at).strip().split(" {2,}");
        return List.of(cells).subList(1, cells.length);
    }

    /** Expands the lines up to the matching {@code #end} for each row; returns the line of that {@code #end}. */
    private int repeat(int at, Map<String, String> outer) throws IOException {
        int end = matching("#end", at);
        String name =
                filled(lines.get(at).substring("#for".length()), at, outer).strip();
        boolean isOptional = name.endsWith("?");
        name = isOptional ? name.substring(0, name.length() - 1) : name;
        if (!isOptional && !tables.containsKey(name)) {
            throw wrong(at, "no table " + name + " above: there are " + new TreeSet<>(tables.keySet()));
        }
        List<Map<String, String>> rows = tables.getOrDefault(name, List.of());
        for (Map<String, String> row : rows) {
            Map<String, String> both = new HashMap<>(outer);
            rows.forEach(other -> other.keySet().forEach(column -> both.putIfAbsent(column, "")));
            both.putAll(row);
            expand(at + 1, end, both);
        }
        return end;
    }

    /** Expands one of the two parts of an {@code #if}; returns the line of the matching {@code #end}. */
    private int choose(int at, Map<String, String> row) throws IOException {
        int end = matching("#end", at);
        int otherwise = matching("#else", at);
        String column = lines.get(at).substring("#if".length()).strip();
        if (!value(column, at, row).isEmpty()) {
            expand(at + 1, Math.min(otherwise, end), row);
        } else if (otherwise < end) {
            expand(otherwise + 1, end, row);
        }
        return end;
    }

    /**
     * Returns the line of the directive that belongs to the directive at a line, or the line of {@code #end} if
     * {@code #end} comes first.
     */
    private int matching(String directive, int at) {
        int open = 0;
        for (int i = at + 1; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (open == 0 && (line.equals(directive) || line.equals("#end"))) {
                return i;
            } else if (line.startsWith("#for ") || line.startsWith("#if ")) {
                open++;
            } else if (line.equals("#end")) {
                open--;
            }
        }
        throw wrong(at, "no #end for " + lines.get(at));
    }

    private String filled(String text, int at, Map<String, String> row) {
        Matcher margin = MARGIN.matcher(text);
        String begin = margin.find() ? "\n" + margin.group() : "";
        return VALUE.matcher(text)
                .replaceAll(
                        found -> Matcher.quoteReplacement(filled(found, at, row).replace("\n", begin)));
    }

    private String filled(MatchResult found, int at, Map<String, String> row) {
        String value = value(found.group(1), at, row);
        return found.group(2) == null
                ? value
                : OPERAND.matcher(value)
                        .replaceAll(word -> found.group(word.group().equals("a") ? 2 : 3));
    }

    private String value(String column, int at, Map<String, String> row) {
        if (!row.containsKey(column)) {
            throw wrong(at, "no column " + column + " here: there are " + new TreeSet<>(row.keySet()));
        }
        return filled(row.get(column), at, row);
    }

    private IllegalArgumentException wrong(int at, String what) {
        return new IllegalArgumentException(template + ":" + (at + 1) + ": " + what);
    }

    private void write(Path folder) throws IOException {
        for (Map.Entry<String, StringBuilder> made : files.entrySet()) {
            Path path = folder.resolve(made.getKey());
            String text = made.getValue().toString();
            if (!Files.exists(path) || !Files.readString(path).equals(text)) {
                Files.createDirectories(path.getParent());
                Files.writeString(path, text);
            }
        }
    }
}
