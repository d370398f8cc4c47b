package ferro.harness;

import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A process that a test starts: what it prints is kept, every wait is bounded, and {@link #close} ends it and its descendants. */
public class Child implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    private final Process process;
    private final List<String> command;
    private final Duration timeout;
    private final PrintedLines out;
    private final PrintedLines err;

    /** Starts a process; what it prints as errors is kept apart unless the builder sends it elsewhere. */
    public Child(ProcessBuilder builder, Duration timeout) throws IOException {
        this.command = builder.command();
        this.timeout = timeout;
        process = builder.start();
        out = new PrintedLines(process.getInputStream(), "out-" + process.pid(), timeout);
        err = new PrintedLines(process.getErrorStream(), "err-" + process.pid(), timeout);
    }

    /** Starts a process whose errors are among its lines. */
    public static Child start(ProcessBuilder builder) throws IOException {
        return new Child(builder.redirectErrorStream(true), TIMEOUT);
    }

    /** Starts a command with more variables, and keeps apart what it prints as errors. */
    public static Child apart(Map<String, String> variables, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(variables);
        return new Child(builder, TIMEOUT);
    }

    public static Child start(List<String> command) throws IOException {
        return start(new ProcessBuilder(command));
    }

    /** Runs a command, and returns what it has printed; fails unless it ends with an exit code. */
    public static String run(int code, ProcessBuilder builder) throws IOException, InterruptedException {
        try (Child child = start(builder)) {
            return child.ended(code);
        }
    }

    /** Runs a command in a folder, which must succeed, and returns what it has printed. */
    public static String run(Path folder, String... command) throws IOException, InterruptedException {
        return run(0, new ProcessBuilder(command).directory(folder.toFile()));
    }

    /** Returns the first of these programs in a folder of PATH; searches the folders in their order. */
    public static Optional<Path> installed(String... programs) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> Stream.of(programs).map(program -> Path.of(folder, program)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    public static boolean succeeds(String... command) throws InterruptedException {
        try (Child child = start(new ProcessBuilder(command))) {
            return child.exitCode() == 0;
        } catch (IOException absent) {
            return false;
        }
    }

    public long pid() {
        return process.pid();
    }

    public final boolean isAlive() {
        return process.isAlive();
    }

    public final boolean endsWithin(Duration bound) throws InterruptedException {
        return process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Gives it a line, or only the end of one, to read. */
    public final void write(String line) throws IOException {
        Writer in = process.outputWriter();
        in.write(line + "\n");
        in.flush();
    }

    public final void await(String line) throws InterruptedException {
        out.await(line::equals);
    }

    public final String await(Predicate<String> wanted) throws InterruptedException {
        return out.await(wanted);
    }

    /** Waits for a line that begins with a text, and returns the rest of the first one. */
    public final String restOfLine(String start) throws InterruptedException {
        return await(line -> line.startsWith(start)).substring(start.length());
    }

    public final String next() throws InterruptedException {
        return out.next();
    }

    public final PrintedLines out() {
        return out;
    }

    public final PrintedLines err() {
        return err;
    }

    public final List<String> outLines() {
        return out.lines();
    }

    public final List<String> errLines() {
        return err.lines();
    }

    public final String errText() {
        return String.join("\n", err.lines());
    }

    /** Returns the rest of each line so far that begins with a word. */
    public final List<String> after(String word) {
        return outLines().stream()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1))
                .toList();
    }

    public int exitCode() throws InterruptedException {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("still running after " + timeout + ": " + this);
            }
            out.awaitEnd();
            err.awaitEnd();
            return process.exitValue();
        } catch (InterruptedException | AssertionError late) {
            close();
            throw late;
        }
    }

    /** Fails unless its errors so far have this text. */
    public final void assertErr(String text) {
        if (!errText().contains(text)) {
            throw new AssertionError("found no \"" + text + "\" in " + this);
        }
    }

    /** Waits for the end with an exit code, and returns what it has printed, errors last where they are kept apart. */
    public final String ended(int code) throws InterruptedException {
        if (exitCode() != code) {
            throw new AssertionError("exit code " + process.exitValue() + ", not " + code + ": " + this);
        }
        return String.join("\n", outLines()) + (errLines().isEmpty() ? "" : "\n" + errText());
    }

    /** Ends it as {@code kill -9} does. */
    public void kill() {
        // that of Process closes what it prints
        process.toHandle().destroyForcibly();
    }

    public void signal(String name) throws IOException, InterruptedException {
        Processes.signal(pid(), name);
    }

    protected final Stream<ProcessHandle> children() {
        return process.children();
    }

    @Override
    public void close() {
        // first itself, which would start others in place of those that end
        List<ProcessHandle> descendants = process.descendants().toList();
        process.destroyForcibly();
        descendants.forEach(ProcessHandle::destroyForcibly);
    }

    @Override
    public String toString() {
        return String.join(" ", command) + " (" + process.pid() + ")\n" + String.join("\n", outLines()) + "\n"
                + errText();
    }
}
