package ferro.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Command lines of JVMs like this one, for lives of seconds. */
public final class Jvm {
    private Jvm() {}

    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Returns the class path of the tests, which Surefire may hide behind a jar that only names it. */
    public static String classPath() {
        return Optional.ofNullable(System.getProperty("surefire.test.class.path"))
                .orElseGet(() -> System.getProperty("java.class.path"));
    }

    public static List<String> line(List<String> options, Class<?> program, Object... arguments) {
        return line(classPath(), options, program.getName(), arguments);
    }

    public static List<String> line(String classPath, List<String> options, String program, Object... arguments) {
        List<String> line = new ArrayList<>(List.of(java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        line.addAll(options);
        line.addAll(List.of("-cp", classPath, program));
        Stream.of(arguments).map(String::valueOf).forEach(line::add);
        return line;
    }
}
