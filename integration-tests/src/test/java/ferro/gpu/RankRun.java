package ferro.gpu;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * One rank of a part as a process. It passes on lines as they come, and ends the process after a time limit at the latest.
 */
final class RankRun implements AutoCloseable {
    private static final int LAST_LINES = 6;

    private final int rank;
    private final Process process;
    private final Path errors;
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;

    private RankRun(int rank, Process process, Path errors, BiConsumer<RankRun, String> onLine) {
        this.rank = rank;
        this.process = process;
        this.errors = errors;
        this.reader = new Thread(() -> read(onLine), "rank " + rank);
        reader.setDaemon(true);
        reader.start();
    }

    static RankRun start(
            int rank, List<String> command, Map<String, String> variables, BiConsumer<RankRun, String> onLine)
            throws IOException {
        Path errors = Files.createTempFile("ferro-gpu-rank", ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.to(errors.toFile()));
        builder.environment().putAll(variables);
        return new RankRun(rank, builder.start(), errors, onLine);
    }

    int rank() {
        return rank;
    }

    private void read(BiConsumer<RankRun, String> onLine) {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
                onLine.accept(this, line);
            }
        } catch (IOException | UncheckedIOException gone) {
            // the process was killed, which its exit code shows
        }
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Tells the process to go on, by closing its input. */
    void release() throws IOException {
        process.getOutputStream().close();
    }

    /** Waits for the end of the process; returns its findings, including a bad end. */
    List<String> findings(Duration patience, boolean killed) throws InterruptedException, IOException {
        boolean ended = process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (!ended) {
            kill();
            process.waitFor();
        }
        reader.join(patience.toMillis());
        List<String> found = new ArrayList<>();
        synchronized (lines) {
            lines.stream().filter(line -> line.startsWith("- ")).forEach(found::add);
        }
        if (!ended) {
            found.add(FindingsPrinter.FAIL + "end: still running after " + patience.toSeconds() + " s, killed; "
                    + last());
        } else if (process.exitValue() != 0 && !killed) {
            found.add(FindingsPrinter.FAIL + "end: exit code " + process.exitValue() + "; " + last());
        }
        return found;
    }

    private String last() throws IOException {
        List<String> said = Files.readAllLines(errors);
        return "last lines: " + String.join(" / ", said.subList(Math.max(0, said.size() - LAST_LINES), said.size()));
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    static String classPath() {
        return System.getProperty("java.class.path");
    }

    @Override
    public void close() throws IOException {
        kill();
        Files.deleteIfExists(errors);
    }
}
