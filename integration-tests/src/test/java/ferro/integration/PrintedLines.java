package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The lines that a process prints, as they come; every wait is bounded. */
public final class PrintedLines {
    private final Duration patience;
    private final List<String> lines = new ArrayList<>();
    private boolean ended;
    private int taken;

    /** Begins to read. */
    public PrintedLines(InputStream source, String name, Duration patience) {
        this.patience = patience;
        Thread reader = new Thread(() -> read(source), name);
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

    /** Returns what was printed so far. */
    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** Waits for the end of the stream. */
    public synchronized void awaitEnd() throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!ended) {
            waitUntil(deadline, "no end");
        }
    }

    /** Waits for the line behind the one that this returned last, and returns it. */
    public synchronized String next() throws InterruptedException {
        return await(taken++, line -> true);
    }

    /** Waits for a line, and returns the first of its kind. */
    public String await(Predicate<String> wanted) throws InterruptedException {
        return await(0, wanted);
    }

    /** Waits for a line, and returns the first of its kind at or behind this place. */
    public synchronized String await(int from, Predicate<String> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            Optional<String> found = lines.stream().skip(from).filter(wanted).findFirst();
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
