package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One run of the ferro command as a process of its own, with what it printed so far; every wait is bounded. */
public final class LauncherRun extends Child {
    /**
     * Variables for all JVMs of a job that measures or trains for a moment: not to compile well what they run. Each of them says on
     * standard error that it has found them.
     */
    public static final Map<String, String> FOR_SHORT_LIVES = Map.of("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private LauncherRun(ProcessBuilder builder) throws IOException {
        super(builder, PATIENCE);
    }

    public static LauncherRun start(String... arguments) throws IOException {
        return start(Map.of(), arguments);
    }

    public static LauncherRun start(Map<String, String> variables, String... arguments) throws IOException {
        return onClassPath(classPath(), variables, arguments);
    }

    /** Starts {@code ferro} with words that blanks separate, and more arguments. */
    public static LauncherRun words(Map<String, String> variables, String words, String... more) throws IOException {
        return start(
                variables,
                Stream.concat(Stream.of(words.split(" ")), Stream.of(more)).toArray(String[]::new));
    }

    public static LauncherRun onClassPath(String path, Map<String, String> variables, String... arguments)
            throws IOException {
        return launch(List.of(), path, variables, arguments);
    }

    /** Starts {@code ferro} by a shell that may have so many files open. */
    public static LauncherRun withOpenFiles(int most, String... arguments) throws IOException {
        return inShell("ulimit -n " + most + "; exec \"$0\" \"$@\"", Map.of(), arguments);
    }

    /** Starts {@code ferro} by a shell, in whose script it stands as {@code "$0" "$@"}. */
    public static LauncherRun inShell(String script, Map<String, String> variables, String... arguments)
            throws IOException {
        return launch(List.of("sh", "-c", script), classPath(), variables, arguments);
    }

    private static LauncherRun launch(
            List<String> before, String path, Map<String, String> variables, String... arguments) throws IOException {
        List<String> line = new ArrayList<>(before);
        line.addAll(JavaLine.launcher(path));
        line.addAll(forShortLives(arguments));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(variables);
        return new LauncherRun(builder);
    }

    /** Returns the same arguments, and where ranks are JVMs, not to compile what they run for a second or two well. */
    public static List<String> forShortLives(String... arguments) {
        List<String> line = new ArrayList<>(List.of(arguments));
        if (line.indexOf("run") == 0 && !line.contains("--")) {
            line.add(1, "-J-XX:TieredStopAtLevel=1");
        }
        return line;
    }

    /**
     * The class path of the tests, which Surefire hides behind a jar that only names it, less the logging library that
     * comes with a test library: Netty would take it up, and complain in the name of the launcher.
     */
    public static String classPath() {
        return ClassPathHolder.PATH;
    }

    /** Made before the first test: see {@link ProgramsFirst}. */
    private static final class ClassPathHolder {
        static final String PATH = Programs.packed(Stream.of(Jvm.classPath().split(File.pathSeparator))
                // jcstress has a processor, which would read what programs of tests compile
                .filter(entry -> !Path.of(entry).getFileName().toString().matches("(slf4j|jcstress|jopt-simple)-.*"))
                .collect(Collectors.joining(File.pathSeparator)));
    }

    public LauncherRun ends(int code) throws InterruptedException {
        ended(code);
        return this;
    }

    public void awaitErrLine(String text) throws InterruptedException {
        err().await(line -> line.contains(text));
    }

    /** Returns the last thing that a launcher has printed. */
    static String box(Child launcher) {
        List<String> lines = launcher.errLines();
        String rule = lines.get(lines.size() - 1);
        assertTrue(rule.startsWith("+-----"), launcher::toString);
        return String.join("\n", lines.subList(lines.indexOf(rule), lines.size()));
    }
}
