package ferro.launcher;

import static ferro.harness.Says.assertRefused;
import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.output.Screen;
import ferro.launcher.rank.CoreBinding;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class SlurmStepTest {
    private static final String ALL_NODES =
            "to use all: srun --ntasks-per-node=1 " + Invocation.ofProcess().line("run");

    private static final Map<String, String> ONLY_TASK =
            Map.of("SLURM_PROCID", "0", "SLURM_NODEID", "0", "SLURM_STEP_NUM_TASKS", "1");
    private static final Map<String, String> MPIRUN = Map.of(
            "OMPI_COMM_WORLD_RANK", "0",
            "OMPI_COMM_WORLD_SIZE", "2",
            "OMPI_COMM_WORLD_LOCAL_RANK", "0",
            "OMPI_COMM_WORLD_LOCAL_SIZE", "2");

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** A command with the options of every one that starts ranks. */
    @Command
    private static final class Starting {
        @Mixin
        private JobOptions options;
    }

    /** The launcher on the second of three nodes. */
    private static Map<String, String> step() {
        return Map.of(
                "SLURM_JOB_ID", "4711",
                "SLURM_STEP_ID", "3",
                "SLURM_JOB_NUM_NODES", "3",
                "SLURM_PROCID", "1",
                "SLURM_LOCALID", "0",
                "SLURM_NODEID", "1",
                "SLURM_STEP_NUM_TASKS", "3",
                "SLURM_STEP_NUM_NODES", "3",
                "SLURM_STEP_TASKS_PER_NODE", "1(x3)",
                "SLURM_STEP_NODELIST", "node[07,09-10]");
    }

    @Test
    void aStepWithOneTaskOnEachNodeGivesNodesNodeRankAndMaster() throws Exception {
        Path secret = folder.resolve("secret");
        SecretFile.create(secret);
        Map<String, String> environment = with(Map.of("FERRO_SECRET_FILE", secret.toString()));

        JobSpec spec = settled(environment, "-n", "4").spec();

        assertEquals(new Placement(4, 3, 1), spec.placement());
        assertEquals(Optional.of(new Endpoint("node07", 25002)), spec.master());
        assertEquals(Optional.of(secret), spec.secretFile());
        assertEquals(
                "ferro: Slurm step 4711.3.0 (job.step.restart): node 1 of 3, the store is at node07:25002",
                said().get(0));
    }

    @Test
    void typedOptionsReplaceThoseOfSlurm() throws Exception {
        Path secret = folder.resolve("secret");
        SecretFile.create(secret);

        assertEquals(
                new Placement(2, 1, 0), settled(step(), "--nodes", "1").spec().placement());
        JobSpec spec = settled(step(), "--master", "head:29500", "--secret-file", secret.toString())
                .spec();
        assertEquals(Optional.of(new Endpoint("head", 29500)), spec.master());
        assertEquals(new Placement(2, 3, 1), spec.placement());
        Map<String, String> named = with(Map.of("MASTER_PORT", "1234"));
        assertEquals(
                new Endpoint("node07", 1234),
                SlurmStep.find(named).orElseThrow().master());
    }

    @Test
    void aStepWithoutASecretOrWithSeveralTasksOnANodeIsRefused() {
        Map<String, String> many = with(Map.of("SLURM_STEP_NUM_TASKS", "6", "SLURM_STEP_TASKS_PER_NODE", "2(x3)"));
        Map<String, String> parts = with(Map.of("SLURM_HET_SIZE", "2"));

        assertRefused(BadInputException.class, () -> settled(step()), "--secret-file FILE, or FERRO_SECRET_FILE");
        String often = message(BadInputException.class, () -> SlurmStep.find(many));
        assertHas(often, "6 times on 3 nodes", "--ntasks-per-node=1");
        assertRefused(BadInputException.class, () -> SlurmStep.find(parts), "SLURM_HET_SIZE=2");
    }

    @Test
    void aLauncherOutsideAParallelStepUsesOnlyItsNode() {
        Map<String, String> shell = Map.of("SLURM_JOB_ID", "4711", "SLURM_PROCID", "0", "SLURM_JOB_NUM_NODES", "3");
        assertEquals(new Placement(2, 1, 0), settled(shell).spec().placement());
        assertHas(said().get(0), ALL_NODES);

        assertEquals(Optional.empty(), SlurmStep.find(with(MPIRUN)));
        assertEquals(Optional.empty(), SlurmStep.find(with(ONLY_TASK)));
        assertEquals(Optional.empty(), SlurmStep.find(Map.of()));
    }

    /** As a script for sbatch has them that exports them. */
    @Test
    void exportedRankAndWorldSizeInAStepAreRefused() {
        Map<String, String> exported = with(Map.of("RANK", "0", "WORLD_SIZE", "1"));

        BadInputException hidden = assertThrows(BadInputException.class, () -> settled(exported));
        assertHas(hidden.getMessage(), "RANK=0 WORLD_SIZE=1", "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=3");
        assertHas(hidden.getMessage(), "env -u RANK -u WORLD_SIZE srun");
        assertEquals(
                new Placement(2, 1, 0), settled(exported, "--nodes", "1").spec().placement());
        exported.putAll(ONLY_TASK);
        assertEquals(Optional.empty(), SlurmStep.find(exported), "no other task is left out");
    }

    @Test
    void aLauncherUnderAnotherLauncherReportsTheTasksItLeavesOut() {
        assertEquals(new Placement(2, 1, 0), settled(with(MPIRUN)).spec().placement());
        assertHas(said().get(0), "starts a separate job, without the other tasks", "OMPI_COMM_WORLD_RANK=0");
    }

    /** What salloc starts by itself is a step of one task to Slurm. */
    @Test
    void aLauncherInAnSallocShellUsesOnlyItsNodeAndReportsIt() {
        Map<String, String> shell = with(Map.of(
                "SLURM_PROCID", "0",
                "SLURM_NODEID", "0",
                "SLURM_STEP_ID", "4294967290",
                "SLURM_STEP_NUM_TASKS", "1",
                "SLURM_STEP_NUM_NODES", "1"));

        assertEquals(Optional.empty(), SlurmStep.find(shell));
        assertEquals(new Placement(2, 1, 0), settled(shell).spec().placement());
        assertHas(said().get(0), ALL_NODES);
    }

    @Test
    void fewerCoresThanRanksAreReported() {
        String one = CoreBinding.warning(4, 1, 64, step()).orElseThrow();
        assertStarts(one, "only 1 core of this node's 64 may be used for 4 ranks");
        assertTrue(one.contains("--cpus-per-task=4") && one.contains("--cpu-bind=none"), one);
        assertHas(CoreBinding.warning(4, 2, 64, Map.of()).orElseThrow(), "taskset");
        String mpi = CoreBinding.warning(4, 1, 64, with(Map.of("OMPI_COMM_WORLD_RANK", "0")))
                .orElseThrow();
        assertTrue(mpi.endsWith("mpirun --bind-to none lifts the binding"), mpi);
        assertEquals(Optional.empty(), CoreBinding.warning(4, 4, 64, step()), "each rank has a core");
        assertEquals(Optional.empty(), CoreBinding.warning(4, 2, 2, step()), "the node has no more");
        assertEquals(Optional.empty(), CoreBinding.warning(4, 0, 64, step()), "nothing is known");
    }

    private static Map<String, String> with(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(step());
        all.putAll(more);
        return all;
    }

    private JobOptions settled(Map<String, String> environment, String... typed) {
        Starting command = new Starting();
        new CommandLine(command).parseArgs(typed);
        Screen screen = new Screen(err, err);
        CommandContext world = new CommandContext(environment, screen, new PrintStream(err), Optional.empty());
        CommandContext inside = command.options.settle(world);
        boolean inStep = typed.length > 0
                && !typed[0].equals("--nodes")
                && SlurmStep.find(environment).isPresent();
        assertEquals(inStep ? "4711.3.0" : null, inside.environment().get("FERRO_JOB_ID"));
        return command.options;
    }

    private List<String> said() {
        return err.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
