package ferro.integration.hosts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.PrintedLines;
import ferro.integration.Processes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A command that runs on one of {@link NamespaceHosts}, with what it printed so far; every wait is bounded. */
public final class HostProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String host;
    private final Process entering;
    private final PrintedLines out;
    private final PrintedLines err;

    /** Takes over the process that has entered a host and waits there for the command. */
    HostProcess(String host, Process entering) {
        this.host = host;
        this.entering = entering;
        this.out = new PrintedLines(entering.getInputStream(), host + "-out", PATIENCE);
        this.err = new PrintedLines(entering.getErrorStream(), host + "-err", PATIENCE);
    }

    /** Waits for the end and returns the exit code, 128 + n for signal n. */
    public int exitCode() throws InterruptedException {
        return exitCode(PATIENCE);
    }

    /** Waits at most this long for the end and returns the exit code. */
    public int exitCode(Duration within) throws InterruptedException {
        boolean ended = entering.waitFor(within.toNanos(), TimeUnit.NANOSECONDS);
        assertTrue(ended, () -> "still running after " + within + ": " + this);
        out.awaitEnd();
        err.awaitEnd();
        return entering.exitValue();
    }

    /** Waits for a line on standard output that starts with this text, and returns the rest of it. */
    public String restOfLine(String start) throws InterruptedException {
        return out.await(line -> line.startsWith(start)).substring(start.length());
    }

    /** Waits for a line on standard output, and returns the first of its kind. */
    public String outLine(Predicate<String> wanted) throws InterruptedException {
        try {
            return out.await(wanted);
        } catch (AssertionError missing) {
            throw new AssertionError("no such line: " + this, missing);
        }
    }

    /** Waits for a line on standard error that contains this text, and returns it. */
    public String errLine(String text) throws InterruptedException {
        return err.await(line -> line.contains(text));
    }

    public List<String> outLines() {
        return out.lines();
    }

    public List<String> errLines() {
        return err.lines();
    }

    public String errText() {
        return String.join("\n", err.lines());
    }

    /** Sends a signal to the command, and to it alone. */
    public void signal(String name) throws Exception {
        Processes.signal(command().pid(), name);
    }

    /** Lets a command go on that was sent STOP; whoever has entered its host stops with it. */
    public void goOn() throws Exception {
        signal("CONT");
        Processes.signal(entering.pid(), "CONT");
    }

    /** Ends the command as {@code kill -9} does. */
    public void kill() {
        command().destroyForcibly();
    }

    /** Returns the pid of the command as this machine numbers it. */
    public long pid() {
        return command().pid();
    }

    /** As this machine numbers it; inside the host it has another number. */
    private ProcessHandle command() {
        return entering.children().findFirst().orElseThrow(() -> new AssertionError("has ended: " + this));
    }

    @Override
    public void close() {
        entering.children().forEach(ProcessHandle::destroyForcibly);
        entering.destroyForcibly();
    }

    @Override
    public String toString() {
        return "command on " + host + "\nout: " + String.join("\n", outLines()) + "\nerr: " + errText();
    }
}
