package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.harness.Processes;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Real mpirun of Open MPI and of MPICH, as Debian packages them, start a program of a user with nothing set by hand. */
@Tag("long")
@Timeout(180)
class MpirunTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern JOB_FILE = Pattern.compile("ranks find each other through the job file (\\S+) until");
    private static final Pattern SELF = Pattern.compile("self \\d (\\d+) ");
    private static final String MAIN = """
            import ferro.ReduceOp;
            import ferro.group.ProcessGroup;

            public class Main {
                public static void main(String[] arguments) {
                    try (ProcessGroup group = ProcessGroup.join()) {
                        float[] sum = {group.rank() + 3, 10 * group.rank() + 7};
                        group.allReduce(sum, ReduceOp.SUM);
                        System.out.println("rank " + group.rank() + " sum " + sum[0] + " " + sum[1]);
                        System.out.println("self " + group.rank() + " " + ProcessHandle.current().pid() + " ");
                        while (arguments.length > 0) {
                            group.allReduce(sum, ReduceOp.MAX);
                        }
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private String classPath;

    private enum Mpi {
        OPEN_MPI("Open MPI", "openmpi-bin", "mpirun.openmpi", "--oversubscribe"),
        MPICH("Hydra", "mpich", "mpirun.mpich");

        private final String title;
        private final String debianPackage;
        private final List<String> command;

        Mpi(String title, String debianPackage, String... command) {
            this.title = title;
            this.debianPackage = debianPackage;
            this.command = List.of(command);
        }
    }

    @BeforeEach
    void compile() throws Exception {
        classPath = LauncherRun.start("classpath").ends(0).outLines().get(0);
        ConfigProgram.compile(classPath, Files.writeString(folder.resolve("Main.java"), MAIN) + "", folder);
    }

    @ParameterizedTest
    @EnumSource
    void fourRanksOfMpirunSumAndLeaveNoJobFile(Mpi mpi) throws Exception {
        try (Child job = start(mpi, List.of(), List.of())) {
            String text = job.ended(0);

            for (int rank = 0; rank < 4; rank++) {
                assertTrue(text.contains("rank " + rank + " sum 18.0 88.0"), text);
            }
            assertTrue(text.contains("job of " + mpi.title + ": rank 0 of 4, 0 of 4 on this host"), text);
            assertFalse(Files.exists(jobFile(text)), "the job file is still there: " + text);
        }
    }

    /** Both MPIs end the others by themselves at once, unless they are told to let them be, which only one does. */
    @Test
    void aRankKilledUnderMpirunIsNamedByTheOthers() throws Exception {
        Child job = start(Mpi.OPEN_MPI, List.of("--enable-recovery"), List.of("forever"));
        try {
            for (int rank = 0; rank < 4; rank++) {
                String one = "self " + rank + " ";
                job.await(line -> line.contains(one));
            }
            Path file = jobFile(String.join("\n", job.outLines()));
            Processes.await(() -> !Files.exists(file), PATIENCE, "with all joined " + file + " is still there");
            String self = job.await(line -> line.contains("self 2 "));
            long victim =
                    Long.parseLong(self.substring(self.indexOf("self 2 ") + 7).split(" ")[0]);

            Processes.kill(victim);

            job.exitCode();
            String text = String.join("\n", job.outLines());
            for (int rank : new int[] {0, 1, 3}) {
                String loss = "PEER_LOST: allReduce on group \"world\" rank " + rank + " seq \\d+: rank 2 .* is gone";
                assertTrue(Pattern.compile(loss).matcher(text).find(), text);
            }
        } finally {
            end(job);
        }
    }

    private static void end(Child job) {
        List<ProcessHandle> ranks = job.outLines().stream()
                .flatMap(line -> SELF.matcher(line).results())
                .flatMap(self -> ProcessHandle.of(Long.parseLong(self.group(1))).stream())
                .filter(rank -> rank.info().command().orElse("").endsWith("/java"))
                .toList();
        job.close();
        ranks.forEach(ProcessHandle::destroyForcibly);
    }

    private static Path jobFile(String text) {
        Matcher named = JOB_FILE.matcher(text);
        assertTrue(named.find(), text);
        return Path.of(named.group(1));
    }

    private Child start(Mpi mpi, List<String> options, List<String> arguments) throws IOException {
        List<String> line = new ArrayList<>(mpi.command);
        line.addAll(options);
        line.addAll(List.of("-n", "4"));
        line.addAll(JavaLine.rankOn(classPath + File.pathSeparator + ".", List.of(), "Main"));
        line.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
        // Open MPI wants to be told twice that root is meant
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        try {
            return new Child(builder, PATIENCE);
        } catch (IOException missing) {
            assumeTrue(false, "no " + mpi.command.get(0) + " here (Debian: " + mpi.debianPackage + ")");
            throw missing;
        }
    }
}
