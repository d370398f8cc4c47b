package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank whose process runs out of memory or descriptors, beside one in this process that has enough; linked by sockets. */
@Tag("long")
@Timeout(60)
class ScarceResourcesTest {
    private static final String MEMORY = "memory";

    @ParameterizedTest
    @DisplayName(
            "row 31: direct memory that is exhausted fails the group with RESOURCE on all ranks, and the JVM lives")
    @ValueSource(ints = {0, 1})
    void directMemoryThatIsExhaustedFailsTheGroupOnAllRanks(int rank) throws Exception {
        try (TcpStoreServer store = store();
                Child child =
                        Child.start(rank, store.port(), LauncherRun.classPath(), "-XX:MaxDirectMemorySize=8m", MEMORY);
                SystemContext context = context(store)) {
            try (ProcessGroup group = ProcessGroup.join(spec("scarce", 1 - rank), context)) {
                assertEquals("used up", child.line());
                float[] data = {3, 5};
                FerroException failure = assertThrows(FerroException.class, () -> group.allReduce(data, ReduceOp.SUM));
                assertEquals(Code.RESOURCE, failure.code(), failure.getMessage());
                assertEquals("" + rank, failure.where().culprits(), failure.getMessage());
            }
            assertEquals("failed RESOURCE", child.line());
            assertTrue(child.line().contains("bytes of direct buffer memory (allocated: "));
            child.tell();
            try (ProcessGroup again = ProcessGroup.join(spec("again", 1 - rank), context)) {
                again.allReduce(new float[] {4, 6}, ReduceOp.SUM);
                assertEquals("again 7.0", child.line());
            }
        }
    }

    @ParameterizedTest
    @DisplayName("row 31: without memory under Netty's own limit joining fails with RESOURCE, the bytes and the limit")
    @ValueSource(ints = {1, 100_000, 200_000})
    void withoutMemoryUnderNettysOwnLimitJoiningFailsWithResource(int limit) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Child.start(
                        0, store.port(), LauncherRun.classPath(), "-Dio.netty.maxDirectMemory=" + limit, MEMORY)) {
            assertEquals("failed RESOURCE", child.line());
            String text = child.line();
            assertTrue(text.contains("failed to allocate ") && text.contains("max: " + limit), text);
        }
    }

    @TempDir
    Path folder;

    @Test
    @DisplayName("row 32: without descriptors accepting pauses with a warning, the group lives, and all is well later")
    void withoutDescriptorsAcceptingPausesTheGroupLivesAndAllIsWellLater() throws Exception {
        try (TcpStoreServer store = store();
                Child child = Child.start(1, store.port(), jarsOnly(), "-XX:-MaxFDLimit", "descriptors");
                SystemContext context = context(store);
                ProcessGroup group = ProcessGroup.join(spec("scarce", 0), context)) {
            float[] data = {4, 6};
            group.allReduce(data, ReduceOp.SUM);
            assertEquals("used up", child.line());
            group.allReduce(data, ReduceOp.SUM);
            // the first message opens a connection of its own, for which the other side has no descriptor
            Work later = group.sendAsync(HostTensor.of(new int[] {7}), 1, ScarceRank.TAG);
            String warning = child.errorWith("cannot accept connections");
            group.allReduce(data, ReduceOp.SUM);

            assertTrue(warning.contains("Too many open files"), warning);
            assertEquals("ended well", child.line());
            assertFalse(later.isDone(), "a message over a connection that was not accepted");
            child.tell();
            later.await();
            assertEquals("message 7", child.line());
        }
    }

    /** As a user has it: a class file in a folder needs a descriptor of its own when it is loaded. */
    private String jarsOnly() throws IOException {
        List<String> jars = new ArrayList<>();
        for (String entry : LauncherRun.classPath().split(File.pathSeparator)) {
            Path path = Path.of(entry);
            jars.add(Files.isDirectory(path) ? jar(path, folder.resolve(jars.size() + ".jar")) : entry);
        }
        return String.join(File.pathSeparator, jars);
    }

    private static String jar(Path from, Path to) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(to));
                Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(from.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        return to.toString();
    }

    /** Each process has the jars of the class path open. */
    @ParameterizedTest(name = "{0} ranks, which need {1} beside the jars")
    @CsvSource({"2, 28", "16, 82"})
    void aJobThatMayOpenTooFewFilesIsToldInOneLineBeforeAnythingIsStarted(int ranks, int besideJars) throws Exception {
        long need = besideJars
                + Stream.of(LauncherRun.classPath().split(File.pathSeparator))
                        .filter(entry -> Files.isRegularFile(Path.of(entry)))
                        .count();
        int limit = (int) need - 4;
        try (LauncherRun run =
                LauncherRun.withOpenFiles(limit, "run", "-n", "" + ranks, "ferro.examples.hello.HelloAllReduce")) {
            assertEquals(2, run.exitCode(), run::toString);

            assertEquals(
                    List.of("ferro run: a job of " + ranks + " ranks, " + ranks + " of them on this host, needs about "
                            + need + " open files in a process, and may have " + limit
                            + ": raise the limit (ulimit -n 1024), or start fewer ranks"),
                    run.errLines());
        }
    }

    private static TcpStoreServer store() {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
    }

    private static GroupSpec spec(String name, int rank) {
        return new GroupSpec(name, rank, 2, ScarceRank.TIMEOUT);
    }

    private static SystemContext context(TcpStoreServer store) {
        return SystemContext.of(Map.of(
                "ferro.backend",
                "tcp",
                Settings.LINKS.name(),
                "tcp",
                "ferro.rendezvous",
                "tcp://127.0.0.1:" + store.port(),
                "FERRO_STORE_SERVED",
                "1"));
    }

    /** The other process, and what it prints. */
    private record Child(Process process, PrintedLines out, PrintedLines err) implements AutoCloseable {
        /** Class files and jars need some; each connection one. */
        private static final int DESCRIPTORS = 150;

        private static final Duration PATIENCE = Duration.ofSeconds(90);

        static Child start(int rank, int port, String path, String limit, String what) throws IOException {
            List<String> line = new ArrayList<>();
            if (limit.contains("FDLimit")) {
                line.addAll(List.of("sh", "-c", "ulimit -n " + DESCRIPTORS + "; exec \"$0\" \"$@\""));
            }
            List<String> options =
                    new ArrayList<>(List.of("-Xmx64m", limit, "-Dferro.backend=tcp", "-Dferro.links=tcp"));
            options.add("-Dferro.rendezvous=tcp://127.0.0.1:" + port);
            line.addAll(JavaLine.rankOn(path, options, ScarceRank.class.getName(), what));
            ProcessBuilder builder = new ProcessBuilder(line);
            builder.environment().put("RANK", Integer.toString(rank));
            builder.environment().put("WORLD_SIZE", "2");
            builder.environment().put("FERRO_STORE_SERVED", "1");
            Process process = builder.start();
            return new Child(
                    process,
                    new PrintedLines(process.getInputStream(), "output of rank " + rank, PATIENCE),
                    new PrintedLines(process.getErrorStream(), "errors of rank " + rank, PATIENCE));
        }

        String line() throws InterruptedException {
            return out.next();
        }

        /** Waits for a line of its standard error. */
        String errorWith(String text) throws InterruptedException {
            return err.await(line -> line.contains(text));
        }

        void tell() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
