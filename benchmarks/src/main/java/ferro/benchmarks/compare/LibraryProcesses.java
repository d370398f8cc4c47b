package ferro.benchmarks.compare;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of one library. The processes wait on pipes for a request, measure together, answer by rank 0, and wait
 * again.
 */
final class LibraryProcesses implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(40);
    private static final Duration ANSWER = Duration.ofSeconds(60);
    private static final Duration END = Duration.ofSeconds(5);

    private final String name;
    private final Path folder;
    private final List<RandomAccessFile> commands = new ArrayList<>();
    private final RandomAccessFile answer;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Process process;
    private boolean lost;

    private LibraryProcesses(String name, Path folder, int ranks, Path starter)
            throws IOException, InterruptedException {
        this.name = name;
        this.folder = folder;
        for (int rank = 0; rank < ranks; rank++) {
            commands.add(pipe("command." + rank));
        }
        answer = pipe("answer");
        Thread reader = new Thread(this::readAnswers, "answers-of-" + name);
        reader.setDaemon(true);
        reader.start();
        process = new ProcessBuilder(starter.toString(), "--start", name, folder.toString(), "" + ranks)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("printed").toFile())
                .start();
    }

    /**
     * Starts a contestant. The contestant is ready when {@link #awaitReady} returns true.
     *
     * @param name    name that {@code starter} knows
     * @param ranks   number of processes
     * @param starter script that becomes the contestant: {@code --start NAME FOLDER RANKS}
     */
    static LibraryProcesses start(String name, int ranks, Path starter) throws IOException, InterruptedException {
        return new LibraryProcesses(name, Files.createTempDirectory("ferro-compare-"), ranks, starter);
    }

    String name() {
        return name;
    }

    /** Opens a pipe for reading and writing, so that neither side waits until the other side opens the pipe. */
    private RandomAccessFile pipe(String file) throws IOException, InterruptedException {
        Path path = folder.resolve(file);
        int code = new ProcessBuilder("mkfifo", "-m", "600", path.toString())
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("mkfifo " + path + " ended with code " + code);
        }
        return new RandomAccessFile(path.toFile(), "rw");
    }

    private void readAnswers() {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new FileInputStream(answer.getFD()), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(line);
            }
        } catch (IOException closed) {
            answers.add("cannot answer: " + closed.getMessage());
        }
    }

    /** Returns whether all ranks of the contestant have met. If some ranks have not, prints the output of the ranks. */
    boolean awaitReady() throws IOException, InterruptedException {
        if (!"ready".equals(nextAnswer(START))) {
            lose(process.isAlive() ? "not ready after " + START.toSeconds() + " s" : "it ended before it was ready");
        }
        return !lost;
    }

    /** Sends a request to all ranks. Returns rank 0's answer, or null if the contestant is lost. */
    String ask(String request) throws IOException, InterruptedException {
        if (lost) {
            return null;
        }
        for (RandomAccessFile command : commands) {
            command.write((request + "\n").getBytes(StandardCharsets.UTF_8));
        }
        String line = nextAnswer(ANSWER);
        if (line == null) {
            lose("no answer to \"" + request + "\"");
        }
        return line;
    }

    private String nextAnswer(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        String line = null;
        while (line == null && System.nanoTime() - deadline < 0) {
            boolean alive = process.isAlive();
            line = answers.poll(100, TimeUnit.MILLISECONDS);
            if (line == null && !alive) {
                return null;
            }
        }
        return line;
    }

    private void lose(String why) throws IOException {
        lost = true;
        List<String> printed = Files.readAllLines(folder.resolve("printed"), StandardCharsets.ISO_8859_1);
        System.err.println("compare: " + name + " is excluded: " + why + (printed.isEmpty() ? "" : "; it printed"));
        printed.stream().skip(Math.max(0, printed.size() - 8)).forEach(line -> System.err.println("    " + line));
    }

    @Override
    public void close() throws IOException {
        for (RandomAccessFile command : commands) {
            command.write("quit\n".getBytes(StandardCharsets.UTF_8));
        }
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        try {
            if (lost || !process.waitFor(END.toMillis(), TimeUnit.MILLISECONDS)) {
                all.forEach(ProcessHandle::destroyForcibly);
                process.waitFor();
            }
        } catch (InterruptedException interrupted) {
            all.forEach(ProcessHandle::destroyForcibly);
            Thread.currentThread().interrupt();
        }
        for (RandomAccessFile command : commands) {
            command.close();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
