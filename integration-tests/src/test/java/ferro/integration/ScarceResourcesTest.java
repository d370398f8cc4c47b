package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.Child;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank whose process runs out of memory or descriptors, beside one in this process that has enough; linked by sockets. */
@Tag("long")
@Timeout(60)
class ScarceResourcesTest {
    private static final String MEMORY = "memory";
    /** Else the JVM raises its limit of open files. */
    private static final String NO_LIMIT_OF_THE_JVM = "-XX:-MaxFDLimit";

    @ParameterizedTest
    @DisplayName(
            "row 31: direct memory that is exhausted fails the group with RESOURCE on all ranks, and the JVM lives")
    @ValueSource(ints = {0, 1})
    void exhaustedDirectMemoryFailsTheGroupOnAllRanks(int rank) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.start(
                        rank, store.port(), LauncherRun.classPath(), MEMORY, "-XX:MaxDirectMemorySize=8m");
                SystemContext context = context(store)) {
            try (ProcessGroup group = Groups.join(spec("scarce", 1 - rank), context)) {
                assertEquals("used up", child.next());
                float[] data = {3, 5};
                FerroException failure = assertThrows(FerroException.class, () -> group.allReduce(data, ReduceOp.SUM));
                assertEquals(Code.RESOURCE, failure.code(), failure.getMessage());
                assertEquals(Set.of(rank), failure.where().culprits(), failure.getMessage());
            }
            assertEquals("failed RESOURCE", child.next());
            assertTrue(child.next().contains("bytes of direct buffer memory (allocated: "));
            assertJoinsAgain(context, 1 - rank, child);
        }
    }

    @ParameterizedTest
    @DisplayName("row 31: without memory under Netty's own limit joining fails with RESOURCE, the bytes and the limit")
    @ValueSource(ints = {1, 100_000, 200_000})
    void aJoinWithoutMemoryForNettyFailsWithResource(int limit) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.start(
                        0,
                        store.port(),
                        LauncherRun.classPath(),
                        MEMORY,
                        "-Dferro.shaded.io.netty.maxDirectMemory=" + limit)) {
            assertEquals("failed RESOURCE", child.next());
            String text = child.next();
            assertTrue(text.contains("failed to allocate ") && text.contains("max: " + limit), text);
        }
    }

    @TempDir
    Path folder;

    /** Rank 0 connects to rank 1, which accepts. */
    @ParameterizedTest
    @DisplayName("row 32: without descriptors a group goes on, and the first call that needs one fails it on all ranks")
    @CsvSource({"0, epoll", "1, epoll", "0, nio", "1, nio"})
    void withoutDescriptorsAGroupFailsAtTheFirstCallThatNeedsOne(int rank, String io) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.start(
                        rank, store.port(), jarsOnly(), "descriptors", NO_LIMIT_OF_THE_JVM, "-Dferro.tcp.io=" + io);
                SystemContext context = context(store, io)) {
            try (ProcessGroup group = Groups.join(spec("scarce", 1 - rank), context)) {
                assertGoesOnWithout(group, child);
                // the first message opens a connection of its own
                assertLacksDescriptors(
                        rank, () -> group.send(HostTensor.of(new int[] {7}), rank, ScarceRank.TAG), child);
            }
            assertJoinsAgain(context, 1 - rank, child);
        }
    }

    @ParameterizedTest
    @DisplayName("row 32: ranks that share memory and cannot make a subgroup for want of descriptors all say so")
    @ValueSource(ints = {0, 1})
    void withoutDescriptorsASubgroupInSharedMemoryFailsOnAllRanks(int rank) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.start(
                        rank, store.port(), jarsOnly(), "subgroup", NO_LIMIT_OF_THE_JVM, "-Dferro.links=shm");
                SystemContext context = SystemContext.of(Ranks.atStore(store.port(), "ferro.backend", "shm"));
                ProcessGroup group = Groups.join(spec("scarce", 1 - rank), context)) {
            assertGoesOnWithout(group, child);
            assertLacksDescriptors(rank, () -> group.newGroup(0, 1), child);
        }
    }

    /** A subgroup needs descriptors for epoll, an eventfd and a timer before those of its connections. */
    @ParameterizedTest(name = "rank {0} with {1} descriptors")
    @DisplayName("row 32: ranks that cannot poll the links of a subgroup for want of descriptors all say so")
    @CsvSource({"0, 0", "1, 0", "0, 1", "1, 1", "0, 2", "1, 2"})
    void withoutDescriptorsForItsLinksASubgroupFailsOnAllRanks(int rank, int left) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.start(
                        rank,
                        store.port(),
                        jarsOnly(),
                        List.of("links", Integer.toString(left)),
                        NO_LIMIT_OF_THE_JVM,
                        "-Dferro.tcp.io=epoll");
                SystemContext context = context(store, "epoll");
                ProcessGroup group = Groups.join(spec("scarce", 1 - rank), context)) {
            assertGoesOnWithout(group, child);
            ProcessGroup made = group.newGroup(0, 1);
            assertLacksDescriptors(rank, () -> made.allReduce(new float[] {4, 6}, ReduceOp.SUM), child);
        }
    }

    private static void assertGoesOnWithout(ProcessGroup group, Child child) throws InterruptedException {
        float[] data = {4, 6};
        group.allReduce(data, ReduceOp.SUM);
        assertEquals("used up", child.next());
        group.allReduce(data, ReduceOp.SUM);
        group.allReduce(data, ReduceOp.SUM);
        assertEquals("ended well", child.next());
    }

    private static void assertJoinsAgain(SystemContext context, int rank, Child child) throws Exception {
        child.write("");
        try (ProcessGroup again = Groups.join(spec("again", rank), context)) {
            again.allReduce(new float[] {4, 6}, ReduceOp.SUM);
            assertEquals("again 7.0", child.next());
        }
    }

    private static void assertLacksDescriptors(int rank, Executable call, Child child) throws InterruptedException {
        FerroException failure = assertThrows(FerroException.class, call);
        assertEquals(Code.RESOURCE, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().contains("Too many open files (EMFILE)"), failure.getMessage());
        assertTrue(failure.getMessage().contains("ulimit -n"), failure.getMessage());
        assertEquals(Set.of(rank), failure.where().culprits(), failure.getMessage());
        assertEquals("failed RESOURCE", child.next());
        String text = child.next();
        assertTrue(text.contains("Too many open files (EMFILE)"), text);
    }

    @ParameterizedTest
    @DisplayName(
            "row 32: where descriptors end the next group is refused at once, and those that are made stand not still")
    @ValueSource(strings = {"tcp", "auto"})
    @Timeout(180)
    void withoutDescriptorsANewGroupIsRefusedAndNoGroupHangs(String links) throws Exception {
        try (TcpStoreServer store = store();
                Child child = Limited.ofBothRanks(jarsOnly(), ManyGroups.class.getName(), "" + store.port(), links)) {
            int made = Integer.parseInt(child.next().substring("made ".length()));
            assertTrue(made > 2 && made < 100, "groups made: " + made);
            String refused = child.next();
            assertTrue(refused.contains("RESOURCE"), refused);
            for (int call = 0; call < 2 * made; call++) {
                String ended = child.next();
                assertTrue(Set.of("ended []", "ended [RESOURCE, RESOURCE]").contains(ended), ended);
            }
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
    void tooFewOpenFilesForAJobAreReportedInOneLine(int ranks, int besideJars) throws Exception {
        long need = besideJars
                + Stream.of(LauncherRun.classPath().split(File.pathSeparator))
                        .filter(entry -> Files.isRegularFile(Path.of(entry)))
                        .count();
        int limit = (int) need - 4;
        LauncherRun run = LauncherRun.withOpenFiles(
                        limit, "run", "-n", "" + ranks, "ferro.examples.hello.HelloAllReduce")
                .ends(2);
        assertEquals(
                List.of("ferro run: a job of " + ranks + " ranks, " + ranks + " of them on this host, needs about "
                        + need + " open files per process, but may have only " + limit
                        + ": raise the limit (ulimit -n 1024), or start fewer ranks"),
                run.errLines());
    }

    private static TcpStoreServer store() {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
    }

    private static GroupSpec spec(String name, int rank) {
        return GroupSpec.of(name, rank, 2, ScarceRank.TIMEOUT);
    }

    private static SystemContext context(TcpStoreServer store) {
        return context(store, "auto");
    }

    private static SystemContext context(TcpStoreServer store, String io) {
        return SystemContext.of(Ranks.atStore(store.port(), Settings.TCP_IO.name(), io, Settings.LINKS.name(), "tcp"));
    }

    private static final class Limited {
        /** Class files and jars need some; each connection one. */
        private static final int DESCRIPTORS = 150;

        private Limited() {}

        static Child start(int rank, int port, String path, String what, String... more) throws IOException {
            return start(rank, port, path, List.of(what), more);
        }

        static Child start(int rank, int port, String path, List<String> what, String... more) throws IOException {
            List<String> line = List.of(more).contains(NO_LIMIT_OF_THE_JVM) ? limited(DESCRIPTORS) : new ArrayList<>();
            List<String> options = new ArrayList<>(List.of("-Xmx64m", "-Dferro.backend=tcp", "-Dferro.links=tcp"));
            options.add("-Dferro.rendezvous=tcp://127.0.0.1:" + port);
            options.addAll(List.of(more));
            List<String> program = new ArrayList<>(List.of(ScarceRank.class.getName()));
            program.addAll(what);
            line.addAll(JavaLine.rankOn(path, options, program.toArray(String[]::new)));
            return started(line, rank);
        }

        /** Starts a program that has both ranks, and may open twice as many files. */
        static Child ofBothRanks(String path, String... program) throws IOException {
            List<String> line = limited(2 * DESCRIPTORS);
            line.addAll(JavaLine.rankOn(path, List.of(NO_LIMIT_OF_THE_JVM), program));
            return started(line, 0);
        }

        private static List<String> limited(int descriptors) {
            return new ArrayList<>(List.of("sh", "-c", "ulimit -n " + descriptors + "; exec \"$0\" \"$@\""));
        }

        private static Child started(List<String> line, int rank) throws IOException {
            return Child.apart(Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "FERRO_STORE_SERVED", "1"), line);
        }
    }
}
