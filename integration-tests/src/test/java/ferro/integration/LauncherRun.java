package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One run of the ferro command as a process of its own, with what it printed so far; every wait is bounded. */
final class LauncherRun implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Process process;
    private final Printed out;
    private final Printed err;

    private LauncherRun(Process process) {
        this.process = process;
        this.out = new Printed(process.getInputStream(), "out");
        this.err = new Printed(process.getErrorStream(), "err");
    }

    /** Starts {@code ferro} with arguments. */
    static LauncherRun start(String... arguments) throws IOException {
        return start(Map.of(), arguments);
    }

    /** Starts {@code ferro} with variables of the test's own and arguments. */
    static LauncherRun start(Map<String, String> variables, String... arguments) throws IOException {
        return onClassPath(classPath(), variables, arguments);
    }

    /** Starts {@code ferro} with a class path of the test's own. */
    static LauncherRun onClassPath(String path, Map<String, String> variables, String... arguments) throws IOException {
        List<String> line = new ArrayList<>(
                List.of(java(), "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED"));
        line.addAll(List.of("-cp", path, "ferro.launcher.FerroCommand"));
        line.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(variables);
        return new LauncherRun(builder.start());
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /**
     * The class path of the tests, which Surefire hides behind a jar that only names it, less the logging library that
     * comes with a test library: Netty would take it up, and complain in the name of the launcher.
     */
    static String classPath() {
        String all = Optional.ofNullable(System.getProperty("surefire.test.class.path"))
                .orElseGet(() -> System.getProperty("java.class.path"));
        return Stream.of(all.split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("slf4j-"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Waits for the end and returns the exit code. */
    int exitCode() throws InterruptedException {
        assertTrue(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS), () -> "still running after " + this);
        out.awaitEnd();
        err.awaitEnd();
        return process.exitValue();
    }

    /** Waits for a line of a rank on standard output that starts with this text, and returns the rest of it. */
    String restOfLine(String start) throws InterruptedException {
        return out.await(line -> line.startsWith(start)).substring(start.length());
    }

    /** Waits for a line on standard error that contains this text. */
    void awaitErrLine(String text) throws InterruptedException {
        err.await(line -> line.contains(text));
    }

    List<String> outLines() {
        return out.lines();
    }

    List<String> errLines() {
        return err.lines();
    }

    String errText() {
        return String.join("\n", err.lines());
    }

    /** Sends a signal to the launcher, and to it alone. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-s", name, "" + process.pid()).start().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    @Override
    public String toString() {
        return "launcher " + process.pid() + "\nout: " + String.join("\n", outLines()) + "\nerr: " + errText();
    }

    /** The lines of one stream as they come. */
    private static final class Printed {
        private final List<String> lines = new ArrayList<>();
        private boolean ended;

        Printed(InputStream source, String name) {
            Thread reader = new Thread(() -> read(source), "launcher-" + name);
            reader.setDaemon(true);
            reader.start();
        }

        private void read(InputStream source) {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(source, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    add(line);
                }
            } catch (IOException failure) {
                add("(closed by the test: " + failure.getMessage() + ")");
            } finally {
                end();
            }
        }

        private synchronized void add(String line) {
            lines.add(line);
            notifyAll();
        }

        private synchronized void end() {
            ended = true;
            notifyAll();
        }

        synchronized List<String> lines() {
            return List.copyOf(lines);
        }

        synchronized void awaitEnd() throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (!ended) {
                waitUntil(deadline, "no end");
            }
        }

        synchronized String await(Predicate<String> wanted) throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (true) {
                Optional<String> found = lines.stream().filter(wanted).findFirst();
                if (found.isPresent()) {
                    return found.get();
                }
                waitUntil(ended ? System.nanoTime() : deadline, "no such line");
            }
        }

        private void waitUntil(long deadline, String missing) throws InterruptedException {
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            assertTrue(millis > 0, () -> missing + " among " + lines);
            wait(millis);
        }
    }
}
