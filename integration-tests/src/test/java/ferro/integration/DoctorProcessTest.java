package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorProcessTest {
    @TempDir
    private Path folder;

    @Test
    void aBrokenProviderDoesNotHideOthers() throws Exception {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve("ferro.spi.BackendProvider"), "no.such.Provider\n");
        String path = folder + File.pathSeparator + LauncherRun.classPath();

        LauncherRun run =
                LauncherRun.onClassPath(path, Map.of(), "doctor", "--json").ends(0);
        String printed = run.outLines().get(0);
        assertTrue(printed.contains("\"name\":\"tcp\",\"usable\":true"), printed);
        assertTrue(printed.contains("no.such.Provider"), printed);
        assertTrue(printed.endsWith("\"ok\":true}"), printed);
    }

    @Test
    void aBackendThatCannotJoinProcessesIsExitCodeOne() throws Exception {
        LauncherRun run = LauncherRun.start(Map.of("FERRO_BACKEND", "simulated"), "doctor")
                .ends(1);
        assertTrue(run.outLines().contains("no job of several ranks can run here"), run::toString);
    }

    @Test
    void tooFewOpenFilesForTwoRanksAreTheVerdictAndExitCodeOne() throws Exception {
        int jars = (int) Stream.of(LauncherRun.classPath().split(File.pathSeparator))
                .filter(entry -> new File(entry).isFile())
                .count();
        LauncherRun run = LauncherRun.withOpenFiles(jars + 20, "doctor").ends(1);
        assertEquals("no job of several ranks can run here", run.outLines().get(0), run::toString);
        String why = run.outLines().get(1);
        assertTrue(why.startsWith("  a job of 2 ranks, 2 of them on this host, needs about " + (jars + 28)), why);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"off, 'none, set by ferro.tls'", "on, all connections", "auto, connections between hosts"})
    void theDoctorReportsWhichConnectionsAreEncrypted(String setting, String text) throws Exception {
        LauncherRun run = LauncherRun.start(Map.of("FERRO_TLS", setting), "doctor", "--json")
                .ends(0);
        String printed = run.outLines().get(0);
        assertTrue(printed.contains("\"encryption\":\"" + text), printed);
    }
}
