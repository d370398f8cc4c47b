package ferro.integration;

import ferro.gpu.GpuReport;
import ferro.harness.Child;
import ferro.harness.Jvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The report of {@code gpu/report} on the GPU of this machine, by the JDK of the tests. CONTRIBUTING.md has the command. */
@Tag("gpu")
class GpuReportTest {
    private static final String MEBIBYTES = "256";
    private static final long LIMIT_SECONDS = 540;

    @Test
    @Timeout(LIMIT_SECONDS + 10)
    void noCheckFailsOnTheGpuOfThisMachine() throws Exception {
        List<String> line = List.of(Jvm.java(), "-cp", LauncherRun.classPath(), GpuReport.class.getName(), MEBIBYTES);
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        try (Child report = new Child(builder, Duration.ofSeconds(LIMIT_SECONDS))) {
            System.out.println(report.ended(0));
        }
    }
}
