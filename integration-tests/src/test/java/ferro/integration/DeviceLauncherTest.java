package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The launcher, the bench and the examples on device tensors, over several processes and the stand-in libraries. */
@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(180)
class DeviceLauncherTest {
    private static final String ALLOCATED = "ferro.examples.device.DeviceAllReduce";
    private static final String FOREIGN = "ferro.examples.device.ForeignPointer";

    @Test
    @DisplayName("2-02 3-22: three processes meet in the launcher's store and add up device tensors over NCCL")
    void threeRanksAddUpTensorsThatFerroAllocated() throws Exception {
        LauncherRun run = LauncherRun.start(StandInPair.variables(), "run", "-n", "3", "--backend", "nccl", ALLOCATED)
                .ends(0);
        String sum = " of 3: the sum of 1048576 elements begins with [6.0, 9.0, 12.0]";
        assertEquals(List.of("[0] rank 0" + sum, "[1] rank 1" + sum, "[2] rank 2" + sum), sorted(run.outLines()));
    }

    @Test
    @DisplayName("2-18: cpu:tcp,cuda:nccl passes the launcher and averages a foreign pointer over NCCL")
    void aPairOfBackendsAveragesForeignPointers() throws Exception {
        Map<String, String> variables = StandInPair.variables("FERRO_BACKEND", "cpu:tcp,cuda:nccl");
        LauncherRun run =
                LauncherRun.start(variables, "run", "-n", "2", FOREIGN).ends(0);
        String mean = " of 2: the mean of 1000 elements begins with [5.0, 6.0, 7.0]";
        assertEquals(List.of("[0] rank 0" + mean, "[1] rank 1" + mean), sorted(run.outLines()));
    }

    @Test
    void aBenchmarkOfDeviceTensorsIsReportedAsSuch() throws Exception {
        Map<String, String> variables = StandInPair.variables();
        variables.putAll(LauncherRun.FOR_SHORT_LIVES);
        String words = "bench allreduce -n 3 --backend nccl --sizes 4,64KiB --time 10ms --json";
        LauncherRun run = LauncherRun.start(variables, words.split(" ")).ends(0);
        assertEquals(2, run.outLines().size(), run::toString);
        for (String line : run.outLines()) {
            assertTrue(line.contains("\"backend\":\"nccl\",\"ranks\":3,"), run::toString);
            assertTrue(
                    line.contains("\"memory\":\"device\",\"medium\":\"NCCL\",\"queued\":1,\"wrong\":0,"),
                    run::toString);
        }
    }

    @Test
    @DisplayName("decision 12: more ranks than devices are refused with both numbers before any starts")
    void moreRanksThanDevicesAreRefused() throws Exception {
        Map<String, String> variables = StandInPair.variables("STANDIN_DEVICES", "2");
        LauncherRun run = LauncherRun.start(variables, "run", "-n", "3", "--backend", "nccl", ALLOCATED)
                .ends(2);
        assertEquals(1, run.errLines().size(), run::toString);
        run.assertErr("3 local ranks (LOCAL_WORLD_SIZE) need as many devices, found 2");
    }

    @Test
    void theDoctorShowsLibrariesAndDevices() throws Exception {
        LauncherRun run = LauncherRun.start(StandInPair.variables(), "doctor").ends(0);
        String said = String.join("\n", run.outLines());
        assertTrue(said.contains("2.28.9 at " + StandInPair.nccl()), said);
        assertTrue(said.contains(StandInPair.runtime()), said);
        assertTrue(said.matches("(?s).*\\n  devices +4\\n.*"), said);
    }

    private static List<String> sorted(List<String> lines) {
        return List.copyOf(new TreeSet<>(lines));
    }
}
