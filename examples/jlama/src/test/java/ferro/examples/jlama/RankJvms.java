package ferro.examples.jlama;

import ferro.backend.tcp.TcpStoreServer;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program in JVMs of its own, one for each rank. */
final class RankJvms implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 120;
    private static final List<String> VECTORS = List.of("--add-modules", "jdk.incubator.vector");

    private final Path folder;
    private final TcpStoreServer store;
    private final List<Process> ranks = new ArrayList<>();

    private RankJvms(Path folder, int ranks) {
        this.folder = folder;
        store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", ranks, null);
    }

    /**
     * The end of a rank.
     *
     * @param code exit code
     * @param out  what it has printed as output since it was last read
     * @param err  what it has printed as errors
     */
    record Ended(int code, String out, String err) {
        /** Returns the lines of the program itself, without those of the JVM and of loggers. */
        List<String> complaints() {
            return err.lines().filter(line -> line.startsWith("jlama: ")).toList();
        }
    }

    /**
     * How ranks are started.
     *
     * @param folder    for files
     * @param options   of the JVM
     * @param classPath behind the class path of this JVM
     * @param program   main class
     */
    record Setup(Path folder, List<String> options, List<Path> classPath, Class<?> program) {
        static Setup usual(Path folder) {
            return new Setup(folder, VECTORS, List.of(), Generate.class);
        }

        /** A program whose sums do not depend on the time at which a compiler replaces code. */
        static Setup reproducible(Path folder, Class<?> program) {
            List<String> options = new ArrayList<>(VECTORS);
            options.add("-XX:TieredStopAtLevel=1");
            return new Setup(folder, options, List.of(), program);
        }
    }

    static RankJvms start(int ranks, Setup setup, String... arguments) throws IOException {
        RankJvms started = new RankJvms(setup.folder(), ranks);
        try {
            for (int rank = 0; rank < ranks; rank++) {
                started.ranks.add(started.start(rank, ranks, setup, arguments));
            }
            return started;
        } catch (IOException failure) {
            started.close();
            throw failure;
        }
    }

    /** Runs all ranks to their end. */
    static List<Ended> run(int ranks, Setup setup, String... arguments) throws IOException {
        try (RankJvms started = start(ranks, setup, arguments)) {
            List<Ended> ended = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                ended.add(started.end(rank));
            }
            return ended;
        }
    }

    private Process start(int rank, int ranks, Setup setup, String... arguments) throws IOException {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC"));
        line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        line.addAll(setup.options());
        StringBuilder classPath = new StringBuilder(System.getProperty("java.class.path"));
        setup.classPath().forEach(entry -> classPath.append(File.pathSeparator).append(entry));
        line.addAll(List.of("-cp", classPath.toString(), setup.program().getName()));
        line.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(line).redirectError(errors(rank).toFile());
        builder.environment()
                .putAll(Map.of(
                        "FERRO_BACKEND",
                        "tcp",
                        "FERRO_RENDEZVOUS",
                        "tcp://127.0.0.1:" + store.port(),
                        "FERRO_STORE_SERVED",
                        "1",
                        "FERRO_RANK",
                        Integer.toString(rank),
                        "FERRO_WORLD_SIZE",
                        Integer.toString(ranks),
                        "FERRO_SHM_DIR",
                        System.getProperty("java.io.tmpdir")));
        return builder.start();
    }

    private Path errors(int rank) {
        return folder.resolve("rank-" + rank + ".err");
    }

    /** Reads so many bytes of what a rank prints next. */
    String read(int rank, int bytes) throws IOException {
        return new String(ranks.get(rank).getInputStream().readNBytes(bytes), StandardCharsets.UTF_8);
    }

    void kill(int rank) {
        ranks.get(rank).destroyForcibly();
    }

    /** Waits for the end of a rank. */
    Ended end(int rank) throws IOException {
        try (InputStream printed = ranks.get(rank).getInputStream()) {
            String out = new String(printed.readAllBytes(), StandardCharsets.UTF_8);
            if (!ranks.get(rank).waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("rank " + rank + " not done within " + TIMEOUT_SECONDS + " s");
            }
            return new Ended(ranks.get(rank).exitValue(), out, Files.readString(errors(rank)));
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted while rank " + rank + " runs", interrupted);
        }
    }

    @Override
    public void close() {
        ranks.forEach(Process::destroyForcibly);
        store.close();
    }
}
