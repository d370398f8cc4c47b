import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the lines of Java sources of two commits, by module, main and test:
 * {@code java config/figures/Lines.java BEFORE AFTER [MODULE,...]}. The last row has the sums of the named modules, or of
 * all. AFTER may be {@code .} for the files of the working tree that git knows. Needs git, and neither a build nor a library.
 * A module is the path before {@code /src/}.
 */
final class Lines {
    private static final List<String> PARTS = List.of("main", "test");

    private Lines() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length < 2 || arguments.length > 3) {
            throw new IllegalArgumentException(
                    "found " + arguments.length + " arguments: need BEFORE AFTER, and maybe MODULE,...");
        }
        Map<String, Integer> before = count(arguments[0]);
        Map<String, Integer> after = count(arguments[1]);
        Set<String> modules = new TreeSet<>();
        for (String part : before.keySet()) {
            modules.add(part.substring(0, part.indexOf(' ')));
        }
        for (String part : after.keySet()) {
            modules.add(part.substring(0, part.indexOf(' ')));
        }
        if (arguments.length == 3) {
            modules.retainAll(Set.of(arguments[2].split(",")));
        }
        System.out.println("| module | main before | main after | more | test before | test after | more |");
        System.out.println("|---|---|---|---|---|---|---|");
        int[] sums = new int[2 * PARTS.size()];
        for (String module : modules) {
            int[] counts = new int[sums.length];
            for (int at = 0; at < sums.length; at++) {
                Map<String, Integer> side = at % 2 == 0 ? before : after;
                counts[at] = side.getOrDefault(module + " " + PARTS.get(at / 2), 0);
                sums[at] += counts[at];
            }
            System.out.println(row(module, counts));
        }
        System.out.println(row("sum", sums));
    }

    private static String row(String name, int[] counts) {
        StringBuilder row = new StringBuilder("| " + name + " |");
        for (int at = 0; at < counts.length; at += 2) {
            int more = counts[at + 1] - counts[at];
            row.append(" " + counts[at] + " | " + counts[at + 1] + " | " + (more > 0 ? "+" : "") + more + " |");
        }
        return row.toString();
    }

    /** Returns the lines of each module and part, such as {@code spi main}. */
    private static Map<String, Integer> count(String commit) throws IOException, InterruptedException {
        boolean isTree = commit.equals(".");
        List<String> command = new ArrayList<>(List.of("git", "grep", "-c", ""));
        if (!isTree) {
            command.add(commit);
        }
        command.addAll(List.of("--", ":/*.java"));
        Process git = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Map<String, Integer> lines = new TreeMap<>();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(git.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                String file = isTree ? line : line.substring(commit.length() + 1);
                for (String part : PARTS) {
                    int at = file.indexOf("/src/" + part + "/");
                    if (at > 0) {
                        lines.merge(
                                file.substring(0, at) + " " + part,
                                Integer.valueOf(file.substring(file.lastIndexOf(':') + 1)),
                                Integer::sum);
                    }
                }
            }
        }
        if (git.waitFor() != 0) {
            throw new IllegalArgumentException("git does not know the sources of \"" + commit + "\"");
        }
        return lines;
    }
}
