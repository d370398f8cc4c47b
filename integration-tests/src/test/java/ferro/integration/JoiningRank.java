package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreClient;
import ferro.harness.Child;
import ferro.harness.Processes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A rank in a process of its own, started by hand, and what it prints while it joins. */
final class JoiningRank extends Child {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String FORMAT = "-Djava.util.logging.SimpleFormatter.format=%4$s %3$s: %5$s%6$s%n";
    private static final String LINE = "INFO ferro.join: ";
    private static final String LATE = "give the rank a free core";
    private static final Pattern FAILED = Pattern.compile(".*RENDEZVOUS: joining \"world\" as rank \\d failed.*");

    private final long started = System.nanoTime();

    private JoiningRank(ProcessBuilder builder) throws IOException {
        super(builder.redirectErrorStream(true), TIMEOUT);
    }

    /** Starts a rank by a command that ends with its line, such as {@code unshare -n}. */
    static JoiningRank start(List<String> before, Map<String, String> variables) throws IOException {
        List<String> line = new ArrayList<>(before);
        line.addAll(JavaLine.rank(List.of("-Xmx128m", FORMAT), JoinsByAuto.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(variables);
        return new JoiningRank(builder);
    }

    static boolean canRun(List<String> command) throws Exception {
        List<String> line = new ArrayList<>(command);
        line.add("true");
        return succeeds(line.toArray(String[]::new));
    }

    void awaitLine(String text) throws InterruptedException {
        await(Pattern.compile(LINE + text));
    }

    String await(Pattern wanted) throws InterruptedException {
        return await(line -> wanted.matcher(line).matches());
    }

    boolean isLate() throws InterruptedException {
        return await(FAILED).contains(LATE);
    }

    /** Waits for the failure of the join, of which a part of the text is a match and that blames these ranks. */
    void awaitFailure(String part, Integer... culprits) throws InterruptedException {
        assertTrue(Pattern.compile(part).matcher(await(FAILED)).find(), this::toString);
        assertTrue(outLines().contains("culprits " + List.of(culprits)), this::toString);
    }

    List<String> joiningLines() {
        return outLines().stream().filter(line -> line.startsWith(LINE)).toList();
    }

    /** Checks that the first line about joining is this one, that it came after 3 s, and that others came each 10 s. */
    void assertFirstLine(String text) {
        List<String> lines = joiningLines();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started);
        assertTrue(Pattern.matches(LINE + text, lines.get(0)), this::toString);
        assertTrue(seconds >= 3 && lines.size() <= 1 + (seconds - 3) / 10, () -> seconds + " s\n" + this);
    }

    /**
     * Stops the process in the middle of its start until a line is due, and after the line until the deadline has passed. It
     * begins when a thread of ferro exists, which is made at the beginning of the join.
     *
     * @param line     regular expression of the line
     * @param deadline deadline of the join; the line is due before it
     */
    void isStoppedWhileItStarts(String line, Duration deadline) throws Exception {
        Processes.await(this::hasBegun, TIMEOUT, "no thread of ferro");
        Processes.signal(pid(), "STOP");
        assertFalse(endsWithin(Duration.ofMillis(3_100)), this::toString);
        Processes.signal(pid(), "CONT");
        awaitLine(line);
        Processes.signal(pid(), "STOP");
        assertFalse(endsWithin(deadline.minusSeconds(3)), this::toString);
        Processes.signal(pid(), "CONT");
    }

    private boolean hasBegun() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", "" + pid(), "task"))) {
            return threads.anyMatch(JoiningRank::isOfFerro);
        } catch (IOException ended) {
            return false;
        }
    }

    private static boolean isOfFerro(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).startsWith("ferro-back");
        } catch (IOException ended) {
            return false;
        }
    }

    static void set(int port, String key, byte[] value) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        TcpStoreClient.StoreAddress store = TcpStoreClient.StoreAddress.of(address, "default", null, 1);
        try (TcpStoreClient client = TcpStoreClient.open(store, TIMEOUT)) {
            client.store().set(key, value);
        }
    }
}
