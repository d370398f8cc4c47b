package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Processes of one job by {@code auto}, of which not all have a device of their own. */
@ExtendWith(StandInPair.class)
@Timeout(120)
class MixedDevicesTest {
    @Test
    @DisplayName("2-18 decision 12: auto with NCCL on one rank and without on the other ends on the host's back end")
    void ranksWithAndWithoutADeviceMeetOnTheHost() throws Exception {
        String told = run("unset LOCAL_WORLD_SIZE; [ $RANK = 0 ] || unset LOCAL_RANK")
                .get(0)
                .errText();
        assertTrue(told.contains("rank 1 of 2 has no usable back end for device tensors"), told);
    }

    @Test
    @DisplayName("2-18 decision 12: ranks that nobody gives a device, as any program without a launcher, work by auto")
    void ranksWithoutAnAssignedDeviceWorkByAuto() throws Exception {
        run("unset LOCAL_RANK LOCAL_WORLD_SIZE");
    }

    private List<Child> run(String variables) throws Exception {
        List<String> options = List.of("-Xmx64m", "-Dferro.timeout=20s", "-Dferro.backend=auto");
        List<String> line = new ArrayList<>(List.of("sh", "-c", variables + "; exec \"$0\" \"$@\""));
        line.addAll(JavaLine.rank(options, JoinsByAuto.class.getName()));
        List<Child> ranks = Job.run(2, StandInPair.variables(), line);
        for (Child rank : ranks) {
            assertEquals(List.of("view false product 30"), rank.outLines());
        }
        return ranks;
    }
}
