package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of the pages in docs/guide, and of two pages in docs, that start programs of module examples, and what the pages say
 * that they print. {@code SnippetsTest} compares the programs themselves.
 *
 * <p>A page shows a command in a block of its own, and the output in the next block. Lines of ranks stand in the order of the
 * ranks. A line of three dots stands for any lines. An output without lines of the launcher is standard output alone.
 *
 * <p>A block of language {@code sh} is a script. The scripts of a page run one after the other in one folder, with the folder's
 * {@code ./ferro}. The output of a script is both streams as they come. If a script runs commands at the same time, its lines may come
 * in any order.
 *
 * <p>A comment {@code <!-- file NAME -->} before a block makes a file of it. A rank that waits for a debugger gets one that detaches at
 * once.
 */
@Timeout(90)
class GuidePageTest {
    private static final Path PAGES = Path.of("../docs/guide");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\R(.*?)^```$");
    private static final Pattern PROGRAM =
            Pattern.compile("(?s)<!-- ferro/examples/guide/(\\w+)\\.java program -->\\R```java\\R(.*?)```");
    private static final Pattern SOURCE = Pattern.compile("(\\w+)\\.java");
    /** Lines that come only if something takes longer than usual. Where a page shows one, it must be printed. */
    private static final List<Pattern> OF_A_BUSY_MACHINE = Stream.of(
                    "\\[\\d+\\] INFO ferro\\.join: rank \\d+ of .*",
                    ".*: waiting for ranks? .*",
                    ".*: waiting for the store .*",
                    "ferro: waiting for node .*",
                    "ferro: node \\d+ waits for .*",
                    ".* goes on without a debugger: .*",
                    // survivors may end before the end of the rank is reported to them
                    "\\[\\d+\\] WARNING ferro\\.group: rank \\d+ of \"[^\"]*\": rank \\d+ \\(pid .*")
            .map(Pattern::compile)
            .toList();

    private static final Pattern EXIT_CODE = Pattern.compile("(?m)^\\| ferro: .*exit code ([1-9]\\d*)");

    private static final Pattern FILE = Pattern.compile("(?s)<!-- file (\\S+) -->\\R```\\w+\\R(.*?)```");
    /** Options of the JVM that name a file of the page, or a folder. */
    private static final Pattern IN_FOLDER = Pattern.compile("(-J.*(?:config\\.file|filename)=)([^/]+)(/?)");

    private static final Map<String, String> IN_ENGLISH = Map.of("LC_ALL", "C.UTF-8");

    @TempDir
    private static Path folder;

    /** A command of a page with its output, which may be empty. */
    private record Command(String page, boolean isScript, String line, String output) {
        @Override
        public String toString() {
            return page + ": " + line;
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    @Tag("long")
    void aCommandPrintsWhatThePageShows(Command command) throws Exception {
        String[] words = command.line.split(" ");
        if (command.isScript) {
            assertScriptPrints(command);
            return;
        }
        if (words[0].equals("java")) {
            main(words[1]).invoke(null, (Object) new String[] {inFolder(words[2])});
            return;
        }
        writeFiles(command.page);
        String[] arguments = Stream.of(words)
                .skip(1)
                .map(word -> SOURCE.matcher(word).replaceFirst("ferro.examples.guide.$1"))
                .map(GuidePageTest::inFolder)
                .toArray(String[]::new);
        assertPrints(command, arguments);
    }

    @Test
    @Tag("long")
    void theFirstProgramRunsFromItsSourceFile() throws Exception {
        Command first = programs().stream()
                .filter(command -> command.page.equals("first-hour.md"))
                .findFirst()
                .orElseThrow();
        Matcher program = PROGRAM.matcher(Files.readString(PAGES.resolve(first.page)));
        assertTrue(program.find());
        Path source = Files.writeString(folder.resolve(program.group(1) + ".java"), program.group(2));

        assertPrints(
                first,
                first.line
                        .replaceFirst("\\S+ ", "")
                        .replaceFirst(SOURCE.pattern(), source + "")
                        .split(" "));
    }

    @Test
    void theProgramOfTheReadmePrintsWhatTheReadmeShows() throws Exception {
        List<String> blocks = BLOCK.matcher(
                        Files.readString(Path.of("../README.md")).split("(?m)^## A program\\R")[1])
                .results()
                .limit(3)
                .map(block -> block.group(2))
                .toList();
        Path source = Files.writeString(folder.resolve("Main.java"), blocks.get(0));
        assertEquals("./ferro run -n 3 Main.java", blocks.get(1).strip());

        assertPrints(new Command("README.md", false, blocks.get(1), blocks.get(2)), "run", "-n", "3", source + "");
    }

    @Test
    void programsOfTheFirstHourHaveEightToFifteenLines() throws IOException {
        String page = Files.readString(PAGES.resolve("first-hour.md"));
        Map<String, Long> lines = PROGRAM.matcher(page.substring(0, page.indexOf("\n## A program for many files")))
                .results()
                .collect(Collectors.toMap(
                        found -> found.group(1),
                        found -> found.group(2)
                                .lines()
                                .filter(line -> !line.isBlank())
                                .count()));

        assertEquals(12, lines.size(), lines::toString);
        lines.forEach((program, count) -> assertTrue(count >= 8 && count <= 15, program + " has " + count + " lines"));
    }

    @Test
    void thePageOfExamplesNamesEachExample() throws IOException {
        String page = Files.readString(Path.of("../examples/README.md"));
        try (Stream<Path> packages = Files.list(Path.of("../examples/src/main/java/ferro/examples"))) {
            for (Path one : packages.toList()) {
                assertTrue(page.contains("| [" + one.getFileName() + "]("), one::toString);
            }
        }
        Pattern main = Pattern.compile("ferro\\.examples\\.(\\w+)\\.(\\w+)");
        for (MatchResult found : main.matcher(page).results().toList()) {
            assertTrue(
                    Files.exists(
                            Path.of("../examples/src/main/java", found.group().replace('.', '/') + ".java")),
                    found::group);
        }
    }

    private static void assertPrints(Command command, String... arguments) throws Exception {
        try (LauncherRun run = LauncherRun.start(IN_ENGLISH, arguments)) {
            boolean isDebugged = command.line.contains("--debug");
            if (isDebugged) {
                SocketDebugger.attach(portOf(run)).close();
            }
            assertEquals(exitCode(command.output), run.exitCode(), run::toString);
            boolean ofRanks = command.output.lines().allMatch(line -> line.startsWith("["));
            String printed = printed(run, command, ofRanks);
            // the launcher prints the port of a debugger at any time
            assertTrue(
                    isDebugged
                            ? sorted(printed.lines().toList())
                                    .equals(sorted(command.output.lines().toList()))
                            : expected(command).matcher(replaced(printed)).matches(),
                    () -> command + " shows\n" + command.output + "but this was printed\n" + printed);
        }
    }

    private static String portOf(LauncherRun run) throws InterruptedException {
        run.awaitErrLine(" waits for a debugger");
        Matcher port = Pattern.compile("to localhost, port (\\d+)").matcher(run.errText());
        assertTrue(port.find(), run::toString);
        return port.group(1);
    }

    private static void writeFiles(String page) throws IOException {
        if (Files.exists(PAGES.resolve(page))) {
            for (MatchResult file : FILE.matcher(Files.readString(PAGES.resolve(page)))
                    .results()
                    .toList()) {
                Files.writeString(folder.resolve(file.group(1)), file.group(2));
            }
        }
        Files.createDirectories(folder.resolve("recordings"));
    }

    private static void assertScriptPrints(Command command) throws Exception {
        boolean hosts = command.line.contains("ip netns");
        assumeTrue(
                !hosts && !command.line.contains("unshare")
                        || Child.succeeds("unshare", "--mount", "--net", "ip", "link"),
                "needs root, unshare and iproute2");
        assumeTrue(!command.line.startsWith("openssl") || Child.succeeds("openssl", "version"), "needs openssl");
        Path script = inFolderOf(command);
        String typed = "cd " + script.getParent() + " && exec 2>&1 && . " + script;
        // names of hosts are those of this script alone
        String line = hosts ? "exec unshare --mount --net sh -c 'mount -t tmpfs tmpfs /run && " + typed + "'" : typed;
        LauncherRun run = LauncherRun.inShell(line, IN_ENGLISH).ends(0);
        List<String> printed = comparable(run.outLines(), command);
        boolean inOrder = !command.line.contains(" &\n");
        assertTrue(
                inOrder
                        ? expected(command).matcher(replaced(text(printed))).matches()
                        : sorted(printed).equals(sorted(command.output.lines().toList())),
                () -> command + " shows\n" + command.output + "but this was printed\n" + text(printed));
    }

    private static Path inFolderOf(Command command) throws IOException {
        Path ofPage = Files.createDirectories(folder.resolve(command.page));
        List<String> ferro = JavaLine.launcher(LauncherRun.classPath());
        String shortLived = "[ \"$1\" = run ] && shift && set -- " + String.join(" ", LauncherRun.forShortLives("run"));
        Files.writeString(
                ofPage.resolve("ferro"),
                "#!/bin/sh\n" + shortLived + " \"$@\"\nexec '" + String.join("' '", ferro) + "' \"$@\"\n");
        Files.setPosixFilePermissions(ofPage.resolve("ferro"), PosixFilePermissions.fromString("rwxr-xr-x"));
        String typed = SOURCE.matcher(command.line).replaceAll("ferro.examples.guide.$1");
        return Files.writeString(ofPage.resolve("typed"), typed + "\n");
    }

    private static List<String> sorted(List<String> lines) {
        return replaced(text(lines)).lines().sorted().toList();
    }

    private static String text(List<String> lines) {
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private static Pattern expected(Command command) {
        return Pattern.compile(Stream.of(replaced(command.output).split("(?m)^\\.\\.\\.\\R", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining("(?s:.*)")));
    }

    private static int exitCode(String output) {
        Matcher code = EXIT_CODE.matcher(output);
        return code.find() ? Integer.parseInt(code.group(1)) : output.contains("| diagnosis: ") ? 1 : 0;
    }

    /** Returns the lines without those of a busy machine that the page does not show. */
    private static List<String> comparable(List<String> printed, Command command) {
        List<Pattern> ignored = OF_A_BUSY_MACHINE.stream()
                .filter(pattern -> command.output
                        .lines()
                        .noneMatch(line -> pattern.matcher(line).matches()))
                .toList();
        return printed.stream()
                .filter(line -> ignored.stream()
                        .noneMatch(pattern -> pattern.matcher(line).matches()))
                .toList();
    }

    private static String printed(LauncherRun run, Command command, boolean ofRanks) {
        boolean asItCame = command.output.lines().anyMatch("..."::equals);
        List<String> lines = new ArrayList<>(ofRanks ? List.of() : run.errLines());
        lines.addAll(asItCame ? 0 : lines.size(), run.outLines());
        if (!asItCame) {
            lines.sort(Comparator.comparing(line -> line.startsWith("[") ? line.substring(0, line.indexOf(']')) : ""));
        }
        return text(comparable(lines, command));
    }

    private static String replaced(String text) {
        return text.replaceAll("(pid|CONT) \\d+", "$1 N")
                .replaceAll("\\S*/ferro-recordings-\\d+", "FOLDER")
                .replaceAll("\\d+(\\.\\d+)? (ms|us|s)\\b", "N $2")
                .replaceAll("(\\.\\d+|\\]):\\d{5}\\b", "$1:PORT")
                .replaceAll("\\(host [\\w.-]+", "(host NAME")
                .replaceAll("(need|are|but) \\d+ (bytes|are)\\b", "$1 N $2")
                .replaceAll("\\S+/job\\.secret", "FOLDER/job.secret")
                .replaceAll("on \\d+ cores.*", "on N cores")
                // the program of a page has no package
                .replaceAll("(ferro\\.examples\\.guide\\.)?(\\w+\\.\\w+ at \\w+\\.java):\\d+", "$2:N")
                .replaceAll("on host [^) ]+", "on host H")
                .replaceAll(" \\(its process was paused [^)]*\\)", "")
                .replaceAll("(localhost, port |localhost:)\\d+", "$1N")
                .replaceAll("\\[\\d+\\.\\d+s\\]", "[Ns]")
                .replaceAll("(?m) +[\\d,]+\\.\\d{3}$", " N")
                .replaceAll("; this process was paused .*", "")
                // a rank that is late to its call finds the group failed, and the call gets no number; such a rank also
                // logs
                .replaceAll("( in \\w+ seq) -?\\d+ of group", "$1 N of group")
                .replaceAll("printed nothing but the log of ferro", "printed nothing")
                // known only if the rank has received the failure that it has caused
                .replaceAll(";\n\\|   its last call was .* earlier\n", "\n");
    }

    private static String inFolder(String word) {
        Matcher file = IN_FOLDER.matcher(word);
        if (file.matches()) {
            return file.group(1) + folder.resolve(file.group(2)) + file.group(3);
        }
        return word.equals("data") ? folder.resolve(word).toString() : word;
    }

    private static Method main(String source) throws ReflectiveOperationException {
        Method main = Class.forName("ferro.examples.guide." + source.replace(".java", ""))
                .getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        return main;
    }

    /** Returns the commands of all pages that start a source file, in the order of the pages. */
    static List<Command> programs() throws IOException {
        List<Command> commands = new ArrayList<>();
        List<Path> pages;
        try (Stream<Path> found = Files.list(PAGES)) {
            pages = Stream.concat(found, Stream.of("training.md", "objects.md").map(PAGES.getParent()::resolve))
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
        for (Path page : pages) {
            List<MatchResult> blocks =
                    BLOCK.matcher(Files.readString(page)).results().toList();
            for (int i = 0; i < blocks.size(); i++) {
                String line = blocks.get(i).group(2).strip();
                // hosts of a job are played by a script
                boolean starts = line.matches("(\\./ferro run|java) .*\\w+\\.java.*") && !line.contains(" --nodes ");
                boolean isScript = blocks.get(i).group(1).equals("sh");
                if (isScript
                        || starts
                                && Files.exists(
                                        Path.of("../examples/src/main/java/ferro/examples/guide", source(line)))) {
                    MatchResult next = i + 1 < blocks.size() ? blocks.get(i + 1) : null;
                    boolean hasOutput = next != null && next.group(1).equals("text");
                    String name = page.getFileName().toString();
                    commands.add(new Command(name, isScript, line, hasOutput ? next.group(2) : ""));
                }
            }
        }
        assertTrue(commands.size() >= 15, commands::toString);
        return commands;
    }

    private static String source(String line) {
        return SOURCE.matcher(line).results().findFirst().orElseThrow().group();
    }
}
