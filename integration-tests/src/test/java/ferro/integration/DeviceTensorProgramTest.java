package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** One program with host and device tensors, two processes of it, and every way that its device tensors can go. */
@ExtendWith(StandInPair.class)
@Timeout(150)
class DeviceTensorProgramTest {
    private static final String MAIN = """
            import ferro.DataType;
            import ferro.DeviceTensor;
            import ferro.ReduceOp;
            import ferro.dispatch.DeviceMemories;
            import ferro.dispatch.DeviceMemory;
            import ferro.dispatch.GpuCollectives;
            import ferro.group.Groups;
            import ferro.group.ProcessGroup;
            import ferro.group.SystemContext;
            import ferro.spi.GroupSpec;
            import java.nio.ByteBuffer;
            import java.time.Duration;

            public class Main {
                private static final Duration LIMIT = Duration.ofSeconds(60);

                public static void main(String[] arguments) {
                    int rank = Integer.parseInt(System.getenv("RANK"));
                    GroupSpec spec = GroupSpec.of("world", rank, 2, LIMIT);
                    try (SystemContext context = SystemContext.ofProcess();
                            DeviceMemory memory = DeviceMemories.shared(context);
                            ProcessGroup group = Groups.join(spec, context);
                            GpuCollectives gpu = GpuCollectives.with(context)) {
                        System.out.println("view " + group.backend().asNcclBackend().isPresent());
                        DeviceTensor data = memory.allocate(DataType.FLOAT32, new long[] {2}, rank);
                        set(memory, data, rank + 3, 10 * rank + 7);
                        DeviceTensor fresh = gpu.allReduce(data, ReduceOp.SUM, group.backend());
                        System.out.println("fresh " + text(memory, fresh) + " of " + text(memory, data));
                        float[] host = {rank + 5};
                        group.allReduce(host, ReduceOp.SUM);
                        group.allReduce(data, ReduceOp.MAX);
                        System.out.println("host " + host[0] + " place " + text(memory, data));
                        try (ProcessGroup child = group.newGroup(1, 0)) {
                            child.broadcast(data, 0);
                            child.barrier();
                        }
                        GpuCollectives.free(fresh);
                        GpuCollectives.free(data);
                        System.out.println("slow " + gpu.fallbackCount("allReduce"));
                    } catch (RuntimeException failure) {
                        System.out.println("failed " + failure.getMessage());
                        System.exit(3);
                    }
                }

                private static void set(DeviceMemory memory, DeviceTensor tensor, float... values) {
                    try (DeviceMemory.Staging staging = memory.stage((int) tensor.byteCount())) {
                        staging.buffer().asFloatBuffer().put(values);
                        memory.toDevice(staging.buffer(), tensor).await(LIMIT);
                    }
                }

                private static String text(DeviceMemory memory, DeviceTensor tensor) {
                    try (DeviceMemory.Staging staging = memory.stage((int) tensor.byteCount())) {
                        memory.toHost(tensor, staging.buffer()).await(LIMIT);
                        return staging.buffer().getFloat(0) + " " + staging.buffer().getFloat(4);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("2-18 0-23: a pair of back ends serves host and device tensors of one group, and of a subgroup")
    void aPairOfBackEndsServesBothKindsOfTensors() throws Exception {
        LauncherRun run = run("cpu:tcp,cuda:nccl", StandInPair.variables());
        assertWorks(run, "true", "0");
        assertTrue(!run.errText().contains("host round-trip"), run::toString);
    }

    @Test
    @DisplayName("2-18: auto opens NCCL beside the best back end for host tensors where there are devices")
    @Tag("long")
    void autoUsesBothBackendsIfDevicesExist() throws Exception {
        assertWorks(run("auto", StandInPair.variables("FERRO_ENABLE_GPU_FALLBACK", "1")), "true", "0");
    }

    @Tag("long")
    @Test
    @DisplayName(
            "0-06 0-07 REQ-3 REQ-6: without NCCL and with opt-in the same program goes through host memory, and is warned")
    void withOptInTheSameProgramGoesThroughHostMemory() throws Exception {
        LauncherRun run = run("tcp", StandInPair.variables("FERRO_ENABLE_GPU_FALLBACK", "1"));
        assertWorks(run, "false", "2");
        run.assertErr("collective=allReduce");
        run.assertErr("unset FERRO_ENABLE_GPU_FALLBACK to get an error");
    }

    @Test
    @DisplayName(
            "0-02 0-26 T16: without NCCL, and with the opt-in at 0, the same program ends with an error that says what to do")
    @Tag("long")
    void withoutOptInTheSameProgramIsTold() throws Exception {
        LauncherRun run = run("tcp", StandInPair.variables("FERRO_ENABLE_GPU_FALLBACK", "0"))
                .ends(3);
        // the first rank that fails ends the other, which may then say nothing
        String text = run.outLines().stream()
                .filter(line -> line.contains("] failed "))
                .findFirst()
                .orElse("");
        assertTrue(text.contains("requires nccl") && text.contains("FERRO_ENABLE_GPU_FALLBACK=1"), run::toString);
    }

    private static void assertWorks(LauncherRun run, String view, String slow) throws InterruptedException {
        run.ends(0);
        for (String rank : new String[] {"[0] ", "[1] "}) {
            String own = rank.equals("[0] ") ? "3.0 7.0" : "4.0 17.0";
            assertEquals(view, run.restOfLine(rank + "view "), run::toString);
            assertEquals("7.0 24.0 of " + own, run.restOfLine(rank + "fresh "), run::toString);
            assertEquals("11.0 place 4.0 17.0", run.restOfLine(rank + "host "), run::toString);
            assertEquals(slow, run.restOfLine(rank + "slow "), run::toString);
        }
    }

    private LauncherRun run(String backend, Map<String, String> variables) throws IOException {
        Path main = Files.writeString(folder.resolve("Main.java"), MAIN);
        return LauncherRun.start(variables, "run", "-n", "2", "--backend", backend, main.toString());
    }
}
