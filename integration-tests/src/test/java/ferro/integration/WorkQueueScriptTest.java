package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** benchmarks/workqueue/run.sh with few tasks, and where Open MPI cannot compile; never how fast anything is. */
@Tag("long")
@Timeout(120)
class WorkQueueScriptTest {
    private static final Path SCRIPT =
            Path.of("../benchmarks/workqueue/run.sh").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    @Test
    void theTableHasTheInstalledSystemsAndNamesMissingOpenMpi() throws Exception {
        String printed = queue(0, "1", "3", "6");

        assertTrue(printed.contains("36 tasks, 3 ranks, rounds: 1"), printed);
        for (String way : List.of("threads", "ferro-tcp", "ferro-shm")) {
            String row = "\\| " + way + " \\| \\d+ \\| \\d+ to \\d+ \\| \\d+\\.\\d\\d \\|";
            assertTrue(printed.lines().anyMatch(line -> line.matches(row)), printed);
        }
        for (String way : List.of("openmpi-tcp", "openmpi-shm")) {
            assertTrue(printed.contains("workqueue: without " + way + ", missing: "), printed);
            assertFalse(printed.contains("| " + way), printed);
        }
    }

    @Test
    void wrongArgumentsAreRefusedBeforeAnythingStarts() throws Exception {
        assertTrue(queue(2, "1", "1").contains("benchmarks/workqueue/run.sh 5"), "one rank");
        assertTrue(queue(2, "no").contains("benchmarks/workqueue/run.sh 5"), "no number of rounds");
        assertTrue(queue(2, "1", "2", "3", "nccl").contains("no way \"nccl\""), "unknown way");
        assertTrue(queue(2, "1", "2", "3", "openmpi-tcp").contains("no way can run here"), "nothing to run");
    }

    /** Runs the script with a mpicc that cannot compile, as the package openmpi-bin leaves it. */
    private String queue(int expected, String... words) throws IOException, InterruptedException {
        Path compiler = folder.resolve("mpicc.openmpi");
        Files.writeString(compiler, "#!/bin/sh\nexit 1\n");
        assertTrue(compiler.toFile().setExecutable(true));
        String path = folder + ":" + System.getenv("PATH");
        return new BenchmarkScript(SCRIPT, folder).run(expected, path, List.of(words));
    }
}
