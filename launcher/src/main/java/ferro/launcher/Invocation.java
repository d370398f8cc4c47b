package ferro.launcher;

import ferro.launcher.program.ClassPath;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command line that started this process. Commands that ferro prints for the user begin with this command line.
 * Therefore printed commands work in a checkout, in another folder, with ferro in PATH, or with only a class path.
 *
 * @param command start of a command for a POSIX shell, without the subcommand
 */
record Invocation(String command) {
    /** Property in which the script {@code ferro} passes the typed command. Only the script sets this property. */
    private static final String TYPED = "ferro.command";

    /** Name of the class of {@code main}. */
    private static final String MAIN = Invocation.class.getPackageName() + ".FerroCommand";

    private static final Pattern PLAIN = Pattern.compile("[\\w./+:@%=,-]+");

    static Invocation ofProcess() {
        return of(Optional.ofNullable(System.getProperty(TYPED)), System.getProperty("java.class.path"));
    }

    /**
     * Returns the typed command. Without the script, returns the JVM and the class path of this process, with a
     * wildcard for a folder of several jars.
     */
    static Invocation of(Optional<String> typed, String classPath) {
        return new Invocation(typed.map(Invocation::quoted)
                .orElseGet(() -> quoted(Path.of(System.getProperty("java.home"), "bin", "java")
                                .toString()) + " -cp " + quoted(brief(classPath)) + " "
                        + MAIN));
    }

    private static String brief(String classPath) {
        Map<Path, Long> jars = entries(classPath)
                .filter(Invocation::isJar)
                .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()));
        return entries(classPath)
                .map(entry -> isJar(entry) && jars.get(entry.getParent()) > 1
                        ? entry.resolveSibling("*").toString()
                        : entry.toString())
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static Stream<Path> entries(String classPath) {
        return ClassPath.parse(classPath).entries().stream().map(Path::of);
    }

    private static boolean isJar(Path entry) {
        return entry.toString().endsWith(".jar");
    }

    /** Returns the command line for a subcommand and its arguments. */
    String line(String subcommand, Object... arguments) {
        return Stream.concat(
                        Stream.of(command, subcommand),
                        Arrays.stream(arguments).map(Object::toString).map(Invocation::quoted))
                .collect(Collectors.joining(" "));
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
