package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The configuration files of docs/guide/logging.md, and class paths with the libraries that read them. */
final class PageFiles {
    private static final Path PAGE = Path.of("../docs/guide/logging.md");

    private PageFiles() {}

    /** Writes a file of the page and returns a class path with it and its library; without a file, only that of the tests. */
    static String classPath(String file, Path folder) throws IOException {
        if (file.isEmpty()) {
            return LauncherRun.classPath();
        }
        Path resources = Files.createDirectories(folder.resolve("of-" + file));
        Matcher block = Pattern.compile("(?s)<!-- file " + Pattern.quote(file) + " -->\\R```\\w+\\R(.*?)```")
                .matcher(Files.readString(PAGE));
        if (!block.find()) {
            throw new IllegalStateException(PAGE + " shows no file " + file);
        }
        Files.writeString(resources.resolve(file), block.group(1));
        return resources
                + File.pathSeparator
                + jars(file.startsWith("logback") ? "logback" : "log4j", "")
                + File.pathSeparator
                + LauncherRun.classPath();
    }

    static String jars(String library, String start) throws IOException {
        try (Stream<Path> found = Files.list(Path.of("target/logging", library).toAbsolutePath())) {
            return found.filter(jar -> jar.getFileName().toString().startsWith(start))
                    .map(Path::toString)
                    .sorted()
                    .collect(Collectors.joining(File.pathSeparator));
        }
    }

    static Process shell(String line) throws IOException {
        return new ProcessBuilder("sh", "-c", line).redirectErrorStream(true).start();
    }

    /** Returns what processes print until they have ended, one after the other. */
    static String output(List<Process> processes) throws Exception {
        StringBuilder all = new StringBuilder();
        for (Process one : processes) {
            all.append(new String(one.getInputStream().readAllBytes()));
            if (one.waitFor() != 0) {
                throw new AssertionError("exit code " + one.exitValue() + ": " + all);
            }
        }
        return all.toString();
    }

    /** Returns the rows of the tables below a heading, up to the next one of its level. */
    static List<String> rows(String page, String heading) {
        int from = page.indexOf(heading + "\n");
        assertTrue(from >= 0, heading);
        int to = page.indexOf("\n## ", from + 1);
        return page.substring(from, to < 0 ? page.length() : to)
                .lines()
                .filter(line -> line.startsWith("|"))
                .toList();
    }
}
