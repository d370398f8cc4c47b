import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts the Java sources and templates of a checkout, and compares those of two commits, which needs git. Needs neither a
 * build nor a library.
 *
 * <ul>
 * <li>{@code java config/figures/Lines.java}: a row per module, with the lines, and the lines of code, of main, tests,
 *     templates and tools. The exit code is 1 if a module has more lines of code than its limit in limits.csv.
 * <li>{@code java config/figures/Lines.java --shrink}: first lowers the limits to what is counted.
 * <li>{@code java config/figures/Lines.java BEFORE AFTER [MODULE,...]}: a row per module and part of two commits. AFTER may
 *     be {@code .} for the files of the working tree that git knows.
 * </ul>
 *
 * <p>Lines of code are neither blank nor comments nor imports. A module is the path before {@code /src/}, else the first folder.
 * Templates are {@code *.template}; what the build makes of them is not counted. Tools are Java files outside of
 * {@code src/main} and {@code src/test}.
 *
 * <p>A deleted line has moved if the same line, with any indentation, is added elsewhere, or if its file has: git says so of
 * files that are alike. Otherwise it is gone, as lines of fewer than three characters are. Likewise an added line has moved or
 * is new.
 */
final class Lines {
    private static final List<String> PARTS = List.of("main", "test", "templates", "tools");
    private static final String ALL = "all";
    private static final int LEAST_TEXT = 3;
    private static final Path LIMITS = Path.of("config/figures/limits.csv");
    private static final Pattern LIMIT = Pattern.compile("([^,]+),code,(\\d+)");
    private static final Pattern TEXT_OR_COMMENT = Pattern.compile(
            "(?s)(\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)+')|/\\*.*?\\*/|//[^\n]*");

    /** By module and part, such as {@code spi main}: lines, lines of code; of a comparison deleted and moved, added and moved. */
    private final Map<String, int[]> counts = new TreeMap<>();

    private final Map<String, Integer> linesOf = new HashMap<>();

    private Lines() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        boolean shrinks = arguments.length == 1 && arguments[0].equals("--shrink");
        if (arguments.length == 0 || shrinks) {
            System.exit(table(of(""), shrinks) ? 0 : 1);
        }
        if (arguments.length > 3 || arguments.length < 2) {
            throw new IllegalArgumentException("found " + arguments.length
                    + " arguments: need none, or --shrink, or BEFORE AFTER and maybe MODULE,...");
        }
        compare(arguments[0], arguments[1], arguments.length == 3 ? Set.of(arguments[2].split(",")) : Set.of());
    }

    /** Prints what is counted beside the limits; returns whether all hold. */
    private static boolean table(Lines counted, boolean shrinks) throws IOException {
        Map<String, Integer> limits = limits(counted, shrinks);
        Set<String> modules = new TreeSet<>();
        counted.counts.keySet().forEach(part -> modules.add(module(part)));
        System.out.println("| module | main | code | test | code | templates | code | tools | code | all | code | limit |");
        System.out.println("|---|---|---|---|---|---|---|---|---|---|---|---|");
        int[] sums = new int[2 * PARTS.size()];
        boolean holds = true;
        for (String module : modules) {
            int[] row = counted.ofModule(module);
            for (int at = 0; at < row.length; at++) {
                sums[at] += row[at];
            }
            holds &= line(module, row, limits.get(module));
        }
        return line(ALL, sums, limits.get(ALL)) && holds;
    }

    private static String module(String part) {
        return part.substring(0, part.lastIndexOf(' '));
    }

    private int[] ofModule(String module) {
        int[] row = new int[2 * PARTS.size()];
        for (int at = 0; at < row.length; at++) {
            row[at] = counts.getOrDefault(module + " " + PARTS.get(at / 2), new int[2])[at % 2];
        }
        return row;
    }

    private static boolean line(String name, int[] row, Integer limit) {
        StringBuilder line = new StringBuilder("| " + name + " |");
        int[] sums = new int[2];
        for (int at = 0; at < row.length; at++) {
            line.append(" ").append(row[at]).append(" |");
            sums[at % 2] += row[at];
        }
        boolean holds = limit != null && sums[1] <= limit;
        line.append(" ").append(sums[0]).append(" | ").append(sums[1]).append(" | ").append(limit);
        System.out.println(line + (holds ? " |" : ": **above** |"));
        return holds;
    }

    /** Reads the limits. To shrink lowers them, and never raises one: who needs more writes what another module gives. */
    private static Map<String, Integer> limits(Lines counted, boolean shrinks) throws IOException {
        Map<String, Integer> limits = new HashMap<>();
        List<String> lines = new ArrayList<>();
        int sum = 0;
        for (String line : Files.readAllLines(LIMITS)) {
            Matcher found = LIMIT.matcher(line);
            if (found.matches() && shrinks) {
                String module = found.group(1);
                int[] row = counted.ofModule(module);
                int code = row[1] + row[3] + row[5] + row[7];
                int limit = Math.min(Integer.parseInt(found.group(2)), module.equals(ALL) ? sum : code);
                sum += limit;
                line = module + ",code," + limit;
                found = LIMIT.matcher(line);
            }
            if (found.matches()) {
                limits.put(found.group(1), Integer.valueOf(found.group(2)));
            }
            lines.add(line);
        }
        if (shrinks) {
            Files.write(LIMITS, lines);
        }
        return limits;
    }

    private static void compare(String before, String after, Set<String> modules)
            throws IOException, InterruptedException {
        Lines old = of(before);
        Lines now = of(after);
        Lines changed = new Lines();
        changed.readChanges(before, after, now);
        Set<String> parts = new TreeSet<>(old.counts.keySet());
        parts.addAll(now.counts.keySet());
        parts.removeIf(part -> !modules.isEmpty() && !modules.contains(module(part)));
        System.out.println("| part | lines before | after | more | code before | after | more | moved away | gone | moved here | new |");
        System.out.println("|---|---|---|---|---|---|---|---|---|---|---|");
        int[] sums = new int[8];
        for (String part : parts) {
            int[] one = old.counts.getOrDefault(part, new int[2]);
            int[] other = now.counts.getOrDefault(part, new int[2]);
            int[] change = changed.counts.getOrDefault(part, new int[4]);
            int[] row = {
                one[0], other[0], one[1], other[1], change[1], change[0] - change[1], change[3], change[2] - change[3]
            };
            for (int at = 0; at < row.length; at++) {
                sums[at] += row[at];
            }
            System.out.println(row(part, row));
        }
        System.out.println(row(ALL, sums));
    }

    private static String row(String name, int[] counts) {
        StringBuilder row = new StringBuilder("| " + name + " |");
        for (int at = 0; at < 4; at += 2) {
            int more = counts[at + 1] - counts[at];
            row.append(" " + counts[at] + " | " + counts[at + 1] + " | " + (more > 0 ? "+" : "") + more + " |");
        }
        for (int at = 4; at < counts.length; at++) {
            row.append(" ").append(counts[at]).append(" |");
        }
        return row.toString();
    }

    /** Counts the sources of a commit, of those files of the working tree that git knows, or without a name of all. */
    private static Lines of(String commit) throws IOException, InterruptedException {
        Lines counted = new Lines();
        boolean isTree = commit.length() < 2;
        List<String> files = (isTree ? ofTree(commit) : git(List.of("ls-tree", "-r", "--name-only", commit))).stream()
                .filter(file -> file.endsWith(".java") || file.endsWith(".template"))
                .toList();
        if (!isTree) {
            counted.read(commit, files);
            return counted;
        }
        for (String file : files) {
            if (Files.exists(Path.of(file))) {
                counted.count(file, Files.readString(Path.of(file)));
            }
        }
        return counted;
    }

    /** Returns the files that git does not ignore; all of the sources but those that a build has made, without git. */
    private static List<String> ofTree(String commit) throws IOException, InterruptedException {
        if (Files.exists(Path.of(".git"))) {
            return git(List.of("ls-files", commit.isEmpty() ? "-co" : "-c", "--exclude-standard"));
        }
        try (Stream<Path> all = Files.walk(Path.of(""))) {
            return all.map(Path::toString)
                    .filter(file -> !file.matches("(.*/)?(target|[.][^/]+|node_modules)/.*"))
                    .toList();
        }
    }

    private void read(String commit, List<String> files) throws IOException, InterruptedException {
        Process git = start(List.of("cat-file", "--batch"));
        try (OutputStream names = git.getOutputStream();
                DataInputStream output = new DataInputStream(git.getInputStream())) {
            for (String file : files) {
                names.write((commit + ":" + file + "\n").getBytes(StandardCharsets.UTF_8));
                names.flush();
                StringBuilder header = new StringBuilder();
                for (int next = output.read(); next != '\n'; next = output.read()) {
                    header.append((char) next);
                }
                byte[] bytes = new byte[Integer.parseInt(header.substring(header.lastIndexOf(" ") + 1))];
                output.readFully(bytes);
                output.read();
                count(file, new String(bytes, StandardCharsets.UTF_8));
            }
        }
        git.waitFor();
    }

    private void count(String file, String text) {
        String code = TEXT_OR_COMMENT
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(Objects.toString(found.group(1), "")));
        int[] sums = counts.computeIfAbsent(part(file), name -> new int[2]);
        linesOf.put(file, (int) text.lines().count());
        sums[0] += linesOf.get(file);
        sums[1] += (int) code.lines()
                .filter(line -> !line.isBlank() && !line.startsWith("import "))
                .count();
    }

    /** Returns the module and the part of a file, such as {@code spi main}. */
    private static String part(String file) {
        int source = file.indexOf("/src/");
        String module = source > 0 ? file.substring(0, source) : file.replaceFirst("/.*", "");
        if (file.endsWith(".template")) {
            return module + " templates";
        }
        String part = file.replaceFirst(".*?/src/(main|test)/.*", "$1");
        return module + " " + (PARTS.contains(part) ? part : "tools");
    }

    /** Counts what was deleted, of that what has moved, what was added, and of that what has moved. */
    private void readChanges(String before, String after, Lines now) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("diff", "-M", "-U0", "--no-color", "--no-ext-diff", before));
        if (!after.equals(".")) {
            command.add(after);
        }
        command.addAll(List.of("--", "*.java", "*.template"));
        List<String> diff = git(command);
        Map<String, Integer> deleted = new HashMap<>();
        Map<String, Integer> added = new HashMap<>();
        for (String line : diff) {
            if (isChange(line)) {
                (line.charAt(0) == '-' ? deleted : added).merge(line.substring(1).strip(), 1, Integer::sum);
            }
        }
        String from = "";
        String to = "";
        for (String line : diff) {
            if (line.startsWith("diff --git ")) {
                from = "";
            } else if (line.startsWith("rename from ")) {
                from = part(line.substring(12));
            } else if (line.startsWith("rename to ")) {
                to = part(line.substring(10));
                addMoved(from, to, now.linesOf.getOrDefault(line.substring(10), 0));
            } else if (line.startsWith("--- a/")) {
                from = part(line.substring(6));
            } else if (line.startsWith("+++ b/")) {
                to = part(line.substring(6));
                from = from.isEmpty() ? to : from;
            } else if (isChange(line)) {
                boolean isDeleted = line.charAt(0) == '-';
                if (!isDeleted) {
                    addMoved(from, to, -1);
                }
                int moved = take(isDeleted ? added : deleted, line.substring(1).strip());
                int[] sums = counts.computeIfAbsent(isDeleted ? from : to, name -> new int[4]);
                sums[isDeleted ? 0 : 2]++;
                sums[isDeleted ? 1 : 3] += moved;
            }
        }
    }

    /** Counts lines of a file that is in another part now: first all, then its new lines back. */
    private void addMoved(String from, String to, int lines) {
        if (!from.equals(to)) {
            int[] away = counts.computeIfAbsent(from, name -> new int[4]);
            away[0] += lines;
            away[1] += lines;
            int[] arrived = counts.computeIfAbsent(to, name -> new int[4]);
            arrived[2] += lines;
            arrived[3] += lines;
        }
    }

    /** Takes one of a text from what there is of it, unless it is as short as a brace; returns how many it took, 0 or 1. */
    private static int take(Map<String, Integer> texts, String text) {
        int left = text.length() < LEAST_TEXT ? 0 : texts.getOrDefault(text, 0);
        texts.put(text, left - 1);
        return left > 0 ? 1 : 0;
    }

    /** Whether a line of a diff is a deleted or an added line. */
    private static boolean isChange(String line) {
        return (line.startsWith("-") || line.startsWith("+")) && !line.startsWith("--- ") && !line.startsWith("+++ ");
    }

    private static List<String> git(List<String> arguments) throws IOException, InterruptedException {
        Process git = start(arguments);
        git.getOutputStream().close();
        List<String> lines = new ArrayList<>();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(git.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(lines::add);
        }
        if (git.waitFor() != 0) {
            throw new IllegalArgumentException("git failed: git " + String.join(" ", arguments));
        }
        return lines;
    }

    private static Process start(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("git", "-c", "safe.directory=*"));
        command.addAll(arguments);
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
