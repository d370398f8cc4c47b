package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.gpu.GpuReport;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The report of {@code gpu/report} on the GPU of this machine, by the JDK of the tests. CONTRIBUTING.md has the command. */
@Tag("gpu")
class GpuReportTest {
    private static final String MEBIBYTES = "256";
    private static final long LIMIT_SECONDS = 540;

    @Test
    @Timeout(LIMIT_SECONDS + 10)
    void noCheckFailsOnTheGpuOfThisMachine(@TempDir Path folder) throws Exception {
        Path printed = folder.resolve("report.md");
        Process report = new ProcessBuilder(
                        LauncherRun.java(), "-cp", LauncherRun.classPath(), GpuReport.class.getName(), MEBIBYTES)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(printed.toFile()))
                .start();
        try {
            assertTrue(report.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), () -> "still running: " + text(printed));
            assertEquals(0, report.exitValue(), () -> text(printed));
            System.out.print(text(printed));
        } finally {
            report.destroyForcibly();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            return file + ": " + unreadable;
        }
    }
}
