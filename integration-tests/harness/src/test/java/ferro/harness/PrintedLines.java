package ferro.harness;

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
    private final Duration timeout;
    private final List<String> lines = new ArrayList<>();
    private final StringBuilder begun = new StringBuilder();
    private boolean ended;
    private int taken;

    public PrintedLines(InputStream source, String name, Duration timeout) {
        this.timeout = timeout;
        Thread reader = new Thread(() -> read(source), name);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(InputStream source) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(source, StandardCharsets.UTF_8))) {
            for (int next = reader.read(); next >= 0; next = reader.read()) {
                add((char) next);
            }
        } catch (IOException failure) {
            add("(closed by the test: " + failure.getMessage() + ")");
        } finally {
            end();
        }
    }

    private synchronized void add(char next) {
        if (next == '\n') {
            add(begun.toString());
            begun.setLength(0);
        } else {
            begun.append(next);
            notifyAll();
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        if (begun.length() > 0) {
            lines.add(begun.toString());
        }
        ended = true;
        notifyAll();
    }

    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    public synchronized void awaitEnd() throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!ended) {
            waitUntil(deadline, "no end");
        }
    }

    /** Waits until a line has so many characters whose end has not come, and returns what has. */
    public synchronized String begun(int characters) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (begun.length() < characters) {
            waitUntil(ended ? System.nanoTime() : deadline, "no line begins");
        }
        return begun.toString();
    }

    public synchronized String next() throws InterruptedException {
        return await(taken++, line -> true);
    }

    public String await(Predicate<String> wanted) throws InterruptedException {
        return await(0, wanted);
    }

    /** Waits for a line, and returns the first of its kind at or behind this place. */
    public synchronized String await(int from, Predicate<String> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
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
        if (millis <= 0) {
            throw new AssertionError(missing + " among " + String.join("\n", lines));
        }
        wait(millis);
    }
}
