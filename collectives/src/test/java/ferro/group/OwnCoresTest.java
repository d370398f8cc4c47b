package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnCoresTest {
    @TempDir
    private Path root;

    @Test
    void aRankBoundToSomeCoresOwnsThem() throws IOException {
        write("sys/devices/system/cpu/online", "0-63");

        assertEquals(OptionalInt.of(4), seen("2-3,34-35", "0::/user.slice/session-1.scope"));
        assertEquals(OptionalInt.empty(), seen("0-63", "0::/user.slice/session-1.scope"));
        assertEquals(OptionalInt.empty(), seen("0-127", "0::/"), "cores that are not there were counted");
        seen("0-3,8,10-11", "0::/");
        assertEquals(
                "{0, 1, 2, 3, 8, 10, 11}", String.valueOf(LinuxFiles.under(root).allowedCores()));
    }

    @Test
    void theCoresOfAContainerAreNotOwnedByOneRank() throws IOException {
        write("sys/devices/system/cpu/online", "0-63");
        write("sys/fs/cgroup/kubepods/pod7/cpuset.cpus.effective", "8-11");
        write("sys/fs/cgroup/cpuset/slurm/job_1/cpuset.effective_cpus", "4-7");

        assertEquals(OptionalInt.empty(), seen("8-11", "0::/kubepods/pod7"));
        assertEquals(OptionalInt.empty(), seen("8-11", "0::/kubepods/pod7/init"), "a group below has the cores of it");
        assertEquals(OptionalInt.of(1), seen("9", "0::/kubepods/pod7"));
        assertEquals(OptionalInt.empty(), seen("4-7", "9:memory:/x\n4:cpuset,cpu:/slurm/job_1\n0::/y"));
        assertEquals(OptionalInt.of(2), seen("4-5", "9:memory:/x\n4:cpuset:/slurm/job_1/step_0\n0::/y"));
    }

    @Test
    void unreadableCoresChangeNothing() throws IOException {
        assertEquals(
                OptionalInt.empty(), LinuxFiles.under(root.resolve("nowhere")).ownCores());
        assertEquals(OptionalInt.empty(), seen("nonsense", "0::/../.."));
    }

    @Test
    void ownCoresCountForEachRankOfTheHost() {
        Map<String, String> variables =
                Map.of("RANK", "0", "WORLD_SIZE", "8", "LOCAL_RANK", "0", "LOCAL_WORLD_SIZE", "4");

        assertEquals(Optional.of("8"), cores(variables, OptionalInt.of(2)));
        assertEquals(Optional.of("16"), cores(Map.of("RANK", "0", "WORLD_SIZE", "8"), OptionalInt.of(2)));
        assertEquals(Optional.empty(), cores(variables, OptionalInt.empty()));
        assertEquals(
                Optional.of("3"),
                cores(Map.of("RANK", "0", "WORLD_SIZE", "8", "FERRO_LOCAL_CORES", "3"), OptionalInt.of(2)));
        assertEquals(Optional.empty(), cores(Map.of(), OptionalInt.of(2)), "of how many ranks is not known");
    }

    private static Optional<String> cores(Map<String, String> variables, OptionalInt own) {
        try (SystemContext context = SystemContext.withOwnCores(variables, () -> own)) {
            return context.setting("FERRO_LOCAL_CORES");
        }
    }

    private OptionalInt seen(String allowed, String groups) throws IOException {
        write("proc/self/status", "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t" + allowed + "\n");
        write("proc/self/cgroup", groups + "\n");
        return LinuxFiles.under(root).ownCores();
    }

    private void write(String file, String text) throws IOException {
        Files.createDirectories(root.resolve(file).getParent());
        Files.writeString(root.resolve(file), text);
    }
}
