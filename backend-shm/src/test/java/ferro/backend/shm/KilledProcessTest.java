package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of their own, ended by SIGKILL after each stage: nothing is left, and who shares with them goes on. */
class KilledProcessTest {
    private static final int BYTES = 300_000;
    /** create, hide, reserve, map, sign; then settled. */
    private static final int STAGES = 5;

    private static final int HIDE = 2;
    private static final int SETTLED = STAGES + 1;

    private final List<Process> started = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    @DisplayName(
            "row 35: a process that is killed leaves at most a file that it had just made, where descriptors can be opened")
    void aKilledProcessLeavesNothingIfDescriptorsCanBeOpened() throws Exception {
        startAtAllStages("hidden");
        assertEquals(
                HIDE - 1, SegmentFolders.files(folder).size(), "only the one that has just made its file has a name");

        killAll();

        SegmentCleaner.sweep(folder, SegmentFolders.onTheMachine(folder).process());
        assertEquals(List.of(), SegmentFolders.files(folder));
    }

    @Test
    @DisplayName("row 35: what killed processes leave elsewhere is removed by the next one")
    void filesOfKilledProcessesAreRemovedByTheNextProcess() throws Exception {
        startAtAllStages("named");
        assertEquals(STAGES, SegmentFolders.files(folder).size(), "all but the one that is settled");
        assertEquals(
                0,
                SegmentCleaner.sweep(folder, SegmentFolders.inAContainer(folder).process()),
                "they live");

        killAll();

        assertEquals(
                STAGES,
                SegmentCleaner.sweep(folder, SegmentFolders.inAContainer(folder).process()));
        assertEquals(List.of(), SegmentFolders.files(folder));
    }

    @Test
    @DisplayName("row 35: who shares memory with a process that is killed reads and writes on")
    void aPeerOfAKilledProcessCanStillReadAndWrite() throws Exception {
        for (String kind : List.of("hidden", "named")) {
            SegmentFolder place =
                    kind.equals("hidden") ? SegmentFolders.onTheMachine(folder) : SegmentFolders.inAContainer(folder);
            start(kind, STAGES);
            byte[] offer = HexFormat.of().parseHex(told(started.size() - 1));
            try (ShmMemory own = opened(place)) {
                assertTrue(own.reach(0, offer).isEmpty());
                killAll();

                assertEquals(4711, own.area(0).getInt(100));
                for (int at = 0; at < BYTES; at++) {
                    own.area(0).put(at, (byte) 7);
                }
            }
            assertEquals(List.of(), SegmentFolders.mapped(folder.toString()));
            SegmentCleaner.sweep(folder, place.process());
            assertEquals(List.of(), SegmentFolders.files(folder));
        }
    }

    @Test
    @DisplayName("row 35: a rank that is killed before its memory is reached is a reason")
    void aRankKilledBeforeItsMemoryIsMappedIsTheReason() throws Exception {
        start("hidden", STAGES);
        byte[] offer = HexFormat.of().parseHex(told(0));
        killAll();

        try (ShmMemory own = opened(SegmentFolders.onTheMachine(folder))) {
            String reason = own.reach(0, offer).orElseThrow();

            assertTrue(reason.startsWith("its segment cannot be opened: /proc/"), reason);
        }
    }

    /** A quota ends writing in the middle, as a file system does that others fill meanwhile. */
    @Test
    void aFileThatCannotBeFilledIsRemovedAndReported() throws Exception {
        String said = said("provided", List.of("sh", "-c", "ulimit -f 100 && exec \"$@\"", "sh"));

        assertTrue(said.contains("RESOURCE: shared memory for group \"world\" rank 1: need 307200 bytes in "), said);
        assertTrue(said.contains(" bytes could be written: File too large: give it more"), said);
        assertEquals(List.of(), SegmentFolders.files(folder));
    }

    @Test
    void aFullFileSystemIsReportedWithNeededAndFreeBytes() throws Exception {
        List<String> mount = List.of(
                "unshare",
                "-Urm",
                "sh",
                "-c",
                "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"",
                folder.toString());
        Assumptions.assumeTrue(runs("unshare", "-Urm", "mount", "-t", "tmpfs", "none", folder.toString()));

        String said = said("provided", mount);

        assertTrue(said.contains("need 307200 bytes in " + folder + ", where there are 65536 bytes free"), said);
    }

    @Test
    void missingDescriptorsAreReportedAndEarlierMemoryStaysReserved() throws Exception {
        String said = said("starved", List.of("sh", "-c", "ulimit -n 64 && exec \"$@\"", "sh"));

        assertTrue(said.contains("RESOURCE: shared memory for group \"world\" rank 1: need 307200 bytes in "), said);
        assertTrue(said.contains("reserved\n"), said);
        String files = " cannot be opened: Too many open files (EMFILE): raise the limit of open files (ulimit -n)";
        assertTrue(said.contains(files), said);
        assertEquals(List.of(), SegmentFolders.files(folder));
    }

    private String said(String kind, List<String> before) throws IOException {
        List<String> line = new ArrayList<>(before);
        line.addAll(java(kind, STAGES));
        started.add(new ProcessBuilder(line).redirectErrorStream(true).start());
        return new String(started.get(0).getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static boolean runs(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException absent) {
            return false;
        }
    }

    private static ShmMemory opened(SegmentFolder place) throws IOException {
        return SegmentFolders.open(place, 1, SegmentSize.now(BYTES), () -> {});
    }

    /** Starts a process for each stage, and waits until all have come to their stages. */
    private void startAtAllStages(String kind) throws IOException {
        for (int stage = 1; stage <= SETTLED; stage++) {
            start(kind, stage);
        }
        for (int number = 0; number < SETTLED; number++) {
            told(number);
        }
    }

    private void start(String kind, int stage) throws IOException {
        started.add(new ProcessBuilder(java(kind, stage))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    private List<String> java(String kind, int stage) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-cp",
                classPath(),
                SharingProcess.class.getName(),
                folder.toString(),
                kind,
                "" + stage,
                "" + BYTES);
    }

    /** Tests run in a module of which only a part is on the class path. */
    private static String classPath() {
        return System.getProperty("java.class.path") + ":" + System.getProperty("jdk.module.path", "") + ":"
                + place(Segment.class) + ":" + place(SharingProcess.class) + ":" + place(GroupSpec.class) + ":"
                + place(SystemContext.class);
    }

    private static Path place(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
    }

    private String told(int number) throws IOException {
        String line = new BufferedReader(
                        new InputStreamReader(started.get(number).getInputStream(), StandardCharsets.UTF_8))
                .readLine();
        assertTrue(line != null, "process " + number + " has ended without a word");
        return line;
    }

    private void killAll() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly();
            assertTrue(process.waitFor(30, TimeUnit.SECONDS), "process " + process.pid() + " still runs");
        }
    }
}
