package ferro.training;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A JVM with the class path of the tests, whose lines a test reads. */
public final class ChildJvm implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;

    private final Process process;
    private final BufferedReader lines;
    private final List<String> read = new ArrayList<>();

    private ChildJvm(Process process) {
        this.process = process;
        lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts a program. */
    public static ChildJvm start(Class<?> program, List<String> options, String... arguments) throws IOException {
        String path = Optional.ofNullable(System.getProperty("surefire.test.class.path"))
                .orElseGet(() -> System.getProperty("java.class.path"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> line = new ArrayList<>(List.of(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        line.addAll(options);
        line.addAll(List.of("-cp", path, program.getName()));
        line.addAll(List.of(arguments));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        // one that hangs ends with another code, and so does the reading of its lines
        CompletableFuture.delayedExecutor(TIMEOUT_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
        return new ChildJvm(process);
    }

    /** Reads lines until there is this one; the JVM may print others before. */
    public void await(String line) throws IOException {
        for (String next = lines.readLine(); !line.equals(next); next = lines.readLine()) {
            if (next == null) {
                throw new AssertionError("ended before \"" + line + "\": " + read);
            }
            read.add(next);
        }
        read.add(line);
    }

    /** Ends it as {@code kill -9} does, and reads what it has printed until then. */
    public void kill() throws IOException, InterruptedException {
        // that of Process closes what it prints
        process.toHandle().destroyForcibly();
        exitCode();
    }

    /** Sends it SIGTERM. */
    public void terminate() {
        // that of Process closes what it prints
        process.toHandle().destroy();
    }

    /** Waits for its end, and returns the exit code. */
    public int exitCode() throws IOException, InterruptedException {
        for (String next = lines.readLine(); next != null; next = lines.readLine()) {
            read.add(next);
        }
        awaitEnd();
        return process.exitValue();
    }

    private void awaitEnd() throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("does not end: " + read);
        }
    }

    /** What it has printed. */
    public List<String> printed() {
        return List.copyOf(read);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
