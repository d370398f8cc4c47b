package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryLimitCheckTest {
    @TempDir
    private Path folder;

    private Path root;
    private LinuxFiles proc;

    @BeforeEach
    void makeGroups() throws IOException {
        root = Files.createDirectories(folder.resolve("sys/fs/cgroup"));
        Files.createDirectories(folder.resolve("proc/self"));
        proc = LinuxFiles.under(folder);
        memberOf("/jobs/mine");
        group("jobs/mine", "max", 900, 0);
        group("jobs", "1000", 700, 28);
    }

    private void memberOf(String path) throws IOException {
        Files.writeString(folder.resolve("proc/self/cgroup"), "0::" + path + "\n");
    }

    private void group(String path, String most, long current, long reclaimable) throws IOException {
        Path group = Files.createDirectories(root.resolve(path));
        Files.writeString(group.resolve("memory.max"), most + "\n");
        Files.writeString(group.resolve("memory.current"), current + "\n");
        Files.writeString(
                group.resolve("memory.stat"),
                "anon 5\ninactive_file " + reclaimable + "\nactive_file 20\nslab 3\nslab_reclaimable 2\n");
    }

    @Test
    void theLimitOfAnOuterControlGroupCounts() throws IOException {
        MemoryLimitCheck.check(proc, 300);
        MemoryLimitCheck.check(proc, 350);
        assertRefused(root.resolve("jobs") + " leaves 350 of 351 bytes", 351);
    }

    private void assertRefused(String group, long need) {
        SegmentShortage.NoSpaceException little =
                assertThrows(SegmentShortage.NoSpaceException.class, () -> MemoryLimitCheck.check(proc, need));
        assertEquals("memory.max of control group " + group, little.getMessage());
    }

    @Test
    void aHostPathInAContainerMeansTheRootGroup() throws IOException {
        memberOf("/../../pods/other");
        group("", "1000", 1222, 0);

        assertRefused(root + " leaves 0 of 1 bytes", 1);
    }

    @Test
    void anUnreadableControlGroupLimitsNothing() throws IOException {
        Files.writeString(folder.resolve("proc/self/cgroup"), "4:memory:/jobs\n");
        MemoryLimitCheck.check(proc, 1 << 30);
        Files.delete(folder.resolve("proc/self/cgroup"));
        MemoryLimitCheck.check(proc, 1 << 30);
    }
}
