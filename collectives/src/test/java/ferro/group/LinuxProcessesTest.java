package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.spi.LinuxFiles;
import ferro.spi.ProcessTable;
import ferro.spi.ProcessTable.TrackedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinuxProcessesTest {
    private static final String REALM = "linux 1c1f-boot pid:[402] ";

    @TempDir
    Path root;

    /** A root like {@code /proc} with this process, number 77, and another, number 78. */
    private ProcessTable table() throws IOException {
        Files.createDirectories(root.resolve("proc/sys/kernel/random"));
        Files.createDirectories(root.resolve("proc/self/ns"));
        Files.writeString(root.resolve("proc/sys/kernel/random/boot_id"), "1c1f-boot\n");
        Files.writeString(root.resolve("proc/sys/kernel/hostname"), "box\n");
        Files.createSymbolicLink(root.resolve("proc/self/ns/pid"), Path.of("pid:[402]"));
        Files.writeString(root.resolve("proc/self/stat"), stat(77, "java", 'S', 0, 100));
        Files.createDirectories(root.resolve("proc/78"));
        process(78, "java", 'S', 0x400040);
        return LinuxProcesses.of(LinuxFiles.under(root), Optional.empty());
    }

    private void process(long pid, String command, char state, long flags) throws IOException {
        Files.writeString(root.resolve("proc/" + pid + "/stat"), stat(pid, command, state, flags, 200));
    }

    private static String stat(long pid, String command, char state, long flags, long start) {
        return pid + " (" + command + ") " + state + " 1 2 3 0 -1 " + flags + " 1 2 3 4 5 6 7 8 20 0 27 0 " + start
                + " 4096000 1200 18446744073709551615\n";
    }

    @Test
    void aProcessIsIdentifiedByBootNamespacePidAndStart() throws IOException {
        ProcessTable table = table();

        assertEquals(REALM + "77 100", table.self());
        assertEquals("pid 77 on host box", table.place());
        assertEquals("box", table.host());
    }

    @Test
    void theUserMayNameTheHost() throws IOException {
        table();

        ProcessTable table = LinuxProcesses.of(LinuxFiles.under(root), Optional.of("a"));

        assertEquals(REALM + "77 100", table.self());
        assertEquals("pid 77 on host a", table.place());
        assertEquals("a", table.host());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "itself, linux 1c1f-boot pid:[402] 77 100",
        "another boot, linux 2d2f-boot pid:[402] 78 200",
        "another namespace, linux 1c1f-boot pid:[403] 78 200",
        "a number used again, linux 1c1f-boot pid:[402] 78 199",
        "a process that is gone, linux 1c1f-boot pid:[402] 79 200",
        "no number, linux 1c1f-boot pid:[402] x y",
        "another system, windows 78",
        "nothing, ''"
    })
    void aProcessThatCannotBeSeenIsNotWatched(String what, String identity) throws IOException {
        assertEquals(Optional.empty(), table().watch(identity), what);
    }

    @ParameterizedTest
    @CsvSource({"S, 4194304, false", "R, 0, false", "T, 64, false", "t, 64, false", "D, 4194308, true", "Z, 0, true"})
    void exitingZombieAndDeadProcessesHaveExited(char state, long flags, boolean exited) throws IOException {
        try (TrackedProcess watched = table().watch(REALM + "78 200").orElseThrow()) {
            assertFalse(watched.hasExited());
            process(78, "java", state, flags);

            assertEquals(exited, watched.hasExited());
        }
    }

    @Test
    void aCommandWithBlanksAndBracketsIsParsed() throws IOException {
        try (TrackedProcess watched = table().watch(REALM + "78 200").orElseThrow()) {
            process(78, "a) Z 1 (b", 'S', 0);
            assertFalse(watched.hasExited());
            process(78, "a) S 1 (b", 'X', 0);
            assertTrue(watched.hasExited());
        }
    }

    @Test
    void aProcessWhoseStatIsEmptyHasExitedOnceItsFolderIsGone() throws IOException {
        try (TrackedProcess watched = table().watch(REALM + "78 200").orElseThrow()) {
            Path stat = Files.writeString(root.resolve("proc/78/stat"), "");
            assertFalse(watched.hasExited());
            Files.delete(stat);
            Files.delete(stat.getParent());
            assertTrue(watched.hasExited());
        }
    }

    @Test
    void aProcessWhoseMainThreadHasEndedIsNotWatched() throws IOException {
        ProcessTable table = table();
        process(78, "java", 'Z', 0);

        assertEquals(Optional.empty(), table.watch(REALM + "78 200"));
    }

    @Test
    void withoutProcNoProcessIsWatched() {
        assertSame(ProcessTable.NONE, LinuxProcesses.of(LinuxFiles.under(root.resolve("nowhere")), Optional.empty()));
    }

    @Test
    void aRealProcessIsSeenAliveAndThenExited() throws Exception {
        assumeTrue(Files.isReadable(LinuxFiles.HOST.path("self/stat")), "there is no /proc here");
        Process child = new ProcessBuilder("sleep", "60").start();
        try (SystemContext context = SystemContext.of(Map.of());
                TrackedProcess watched = watch(context.processes(), child)) {
            assertFalse(watched.hasExited());
            child.destroyForcibly();
            assertTrue(child.waitFor(20, TimeUnit.SECONDS), "the child does not end");

            assertTrue(watched.hasExited(), "reaped, so that its number is free");
            assertTrue(watched.hasExited(), "it never goes back");
        } finally {
            child.destroyForcibly();
        }
    }

    private static TrackedProcess watch(ProcessTable table, Process child) throws IOException {
        String self = table.self();
        String realm = self.substring(0, self.indexOf(']') + 2);
        LinuxFiles.Stat stat = LinuxFiles.HOST.stat("" + child.pid());
        return table.watch(realm + stat.pid() + " " + stat.startTicks()).orElseThrow();
    }
}
