package ferro.integration.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Processes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/** A command that runs on one of {@link NamespaceHosts}, with what it printed so far; every wait is bounded. */
public final class HostProcess extends Child {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Starts the process that enters a host and waits there for the command. */
    HostProcess(ProcessBuilder entering) throws IOException {
        super(entering, PATIENCE);
    }

    /** Waits at most this long for the end and returns the exit code, 128 + n for signal n. */
    public int exitCode(Duration within) throws InterruptedException {
        assertTrue(endsWithin(within), () -> "still running after " + within + ": " + this);
        return exitCode();
    }

    /** Fails unless all end with this exit code. */
    public static void assertEnd(int code, List<HostProcess> all) throws InterruptedException {
        for (HostProcess one : all) {
            assertEquals(code, one.exitCode(), all::toString);
        }
    }

    /** Waits for a line on standard output, and returns the first of its kind. */
    public String outLine(Predicate<String> wanted) throws InterruptedException {
        try {
            return await(wanted);
        } catch (AssertionError missing) {
            throw new AssertionError("no such line: " + this, missing);
        }
    }

    /** Waits for a line on standard error that contains this text, and returns it. */
    public String errLine(String text) throws InterruptedException {
        return err().await(line -> line.contains(text));
    }

    /** Lets a command go on that was sent STOP; whoever has entered its host stops with it. */
    public void goOn() throws Exception {
        signal("CONT");
        Processes.signal(super.pid(), "CONT");
    }

    /** Ends the command as {@code kill -9} does. */
    @Override
    public void kill() {
        Processes.kill(pid());
    }

    /** Returns the pid of the command as this machine numbers it; inside the host it has another number. */
    @Override
    public long pid() {
        return children()
                .findFirst()
                .orElseThrow(() -> new AssertionError("has ended: " + this))
                .pid();
    }
}
