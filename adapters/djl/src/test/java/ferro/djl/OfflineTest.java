package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.util.Utils;
import ferro.harness.Child;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Tests of DJL's offline mode. By default DJL queries the metadata address of the cloud before its first engine loads.
 */
class OfflineTest {
    /** The allowed addresses in the kernel's form: the empty address and 127.0.0.1, and both as IPv6 addresses. */
    private static final List<String> LOOPBACK = List.of(
            "00000000",
            "0100007F",
            "00000000000000000000000000000000",
            "0000000000000000FFFF00000100007F",
            "00000000000000000000000001000000");

    @Test
    void theJvmOfTheTestsIsOfflineAndSendsNoUsageReports() {
        assertTrue(Utils.isOfflineMode());
        assertEquals("true", Utils.getEnvOrSystemProperty("OPT_OUT_TRACKING"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void twoTrainingRanksConnectOnlyOverLoopback() throws Exception {
        List<Child> ranks = RankJvms.run(2, TrainsUnderWatch.class, "sgd", "broadcast", "staged");

        for (Child rank : ranks) {
            assertEquals(FitsWithEasyTrain.STEPS, rank.after("loss").size(), rank::toString);
            assertEquals(List.of(), rank.after("connect"), rank::toString);
            assertTrue(LOOPBACK.containsAll(rank.after("peer")), rank::toString);
            assertTrue(rank.after("peer").size() > 1, rank::toString);
        }
    }

    @Test
    void withoutTheTwoSettingsDjlConnectsToTheInternet() throws Exception {
        List<String> neither =
                List.of("-Dai.djl.offline=false", "-DOPT_OUT_TRACKING=false", "-Dferro.rank=0", "-Dferro.world.size=1");

        Child found = Child.start(RankJvms.line(neither, TrainsUnderWatch.class, "sgd", "broadcast", "staged"));
        found.exitCode();

        assertTrue(found.after("connect").contains("169.254.169.254:80"), found::toString);
    }
}
