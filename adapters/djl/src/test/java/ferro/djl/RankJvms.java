package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A runner that starts a program in separate JVMs, one per rank. PyTorch has only one gradient collector per JVM, and
 * some of its faults end the JVM.
 */
public final class RankJvms {
    private static final long TIMEOUT_SECONDS = 120;
    /** The options that the pom passes to this JVM and that every other JVM also needs, above all the offline mode. */
    private static final List<String> HANDED_ON = List.of(
            "ai.djl.offline",
            "OPT_OUT_TRACKING",
            "DJL_CACHE_DIR",
            "ai.djl.pytorch.num_threads",
            "ai.djl.pytorch.num_interop_threads");

    private RankJvms() {}

    /**
     * The end of a program.
     *
     * @param code the exit code of the program
     * @param lines the lines of its output, including errors
     */
    public record Ended(int code, List<String> lines) {
        /** Returns the texts after a given first word, from all lines that begin with this word. */
        public List<String> after(String word) {
            return lines.stream()
                    .filter(line -> line.startsWith(word + " "))
                    .map(line -> line.substring(word.length() + 1))
                    .toList();
        }
    }

    /** Runs a program on ranks of one group. Fails if a rank fails. The index in the result is the rank. */
    public static List<Ended> run(Path folder, int worldSize, Class<?> program, String... arguments) {
        List<Ended> ended = all(folder, worldSize, program, arguments);
        for (Ended one : ended) {
            assertEquals(0, one.code(), () -> String.join("\n", one.lines()));
        }
        return ended;
    }

    /** Runs a program on ranks of one group. The ranks may fail. The index in the result is the rank. */
    static List<Ended> all(Path folder, int worldSize, Class<?> program, String... arguments) {
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null)) {
            List<Process> ranks = new ArrayList<>();
            try {
                for (int rank = 0; rank < worldSize; rank++) {
                    Map<String, String> settings = Map.of(
                            "FERRO_BACKEND",
                            "tcp",
                            "FERRO_RENDEZVOUS",
                            "tcp://127.0.0.1:" + store.port(),
                            "FERRO_STORE_SERVED",
                            "1",
                            "FERRO_RANK",
                            Integer.toString(rank),
                            "FERRO_WORLD_SIZE",
                            Integer.toString(worldSize));
                    ranks.add(start(settings, output(folder, rank), program, arguments));
                }
                return ended(folder, ranks);
            } finally {
                ranks.forEach(Process::destroyForcibly);
            }
        } catch (IOException failure) {
            throw new AssertionError("cannot run " + program, failure);
        }
    }

    private static List<Ended> ended(Path folder, List<Process> ranks) throws IOException {
        List<Ended> ended = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            ended.add(ended(ranks.get(rank), output(folder, rank)));
        }
        return ended;
    }

    /** Runs a program in one JVM without a group. The program may fail. */
    static Ended alone(Path folder, List<String> options, Class<?> program, String... arguments) {
        Process process = null;
        try {
            List<String> all = new ArrayList<>(options);
            all.add(program.getName());
            all.addAll(List.of(arguments));
            process = start(Map.of(), output(folder, 0), all);
            return ended(process, output(folder, 0));
        } catch (IOException failure) {
            throw new AssertionError("cannot run " + program, failure);
        } finally {
            if (process != null) {
                process.destroyForcibly();
            }
        }
    }

    private static Path output(Path folder, int rank) {
        return folder.resolve("rank-" + rank + ".out");
    }

    private static Process start(Map<String, String> settings, Path output, Class<?> program, String... arguments)
            throws IOException {
        List<String> all = new ArrayList<>(List.of(program.getName()));
        all.addAll(List.of(arguments));
        return start(settings, output, all);
    }

    private static Process start(Map<String, String> settings, Path output, List<String> optionsAndProgram)
            throws IOException {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=" + output.resolveSibling("hs_err.log")));
        for (String name : HANDED_ON) {
            line.add("-D" + name + "=" + System.getProperty(name));
        }
        line.addAll(List.of("-cp", System.getProperty("java.class.path")));
        line.addAll(optionsAndProgram);
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        builder.environment().putAll(settings);
        return builder.redirectOutput(output.toFile()).start();
    }

    private static Ended ended(Process process, Path output) throws IOException {
        try {
            assertTrue(
                    process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS),
                    "not done within " + Duration.ofSeconds(TIMEOUT_SECONDS));
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted while a rank runs", interrupted);
        }
        return new Ended(process.exitValue(), Files.readAllLines(output));
    }
}
