package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.examples.device.DeviceAllReduce;
import ferro.harness.Child;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs with ferro-backend-nccl and a CUDA runtime, without NCCL, with and without ferro-backend-gloo-fallback. */
@ExtendWith(StandInPair.class)
@Timeout(120)
class FallbackJarTest {
    private static final String ARTIFACT = "ferro-backend-gloo-fallback";
    private static final String GATE = "FERRO_ENABLE_GPU_FALLBACK";
    private static final String REFUSED = "allReduce on a device tensor requires nccl";
    private static final String WARNED = "takes a host round-trip";

    /** How a program finds ferro's jars. */
    enum JarPath {
        CLASS_PATH,
        MODULE_PATH
    }

    private record Ended(int exitCode, String text) {}

    @ParameterizedTest
    @CsvSource({"CLASS_PATH, 0", "CLASS_PATH, 1", "MODULE_PATH, 0", "MODULE_PATH, 1"})
    @DisplayName("0-06 0-08: without the jar a call on a device tensor is refused, names the jar, and nothing warns")
    void withoutTheFallbackACallIsRefusedAndNamesTheArtifact(JarPath path, String gate) throws Exception {
        Ended program = run(path, gate, jars(false));

        assertEquals(2, program.exitCode(), program::toString);
        assertTrue(program.text().contains(REFUSED), program::toString);
        assertTrue(program.text().contains(ARTIFACT), program::toString);
        assertFalse(program.text().contains(WARNED), program::toString);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("0-06: with the jar the gate decides whether a device tensor goes through host memory")
    void withTheFallbackTheGateDecides(JarPath path) throws Exception {
        Ended shut = run(path, "0", jars(true));
        Ended open = run(path, "1", jars(true));

        assertEquals(2, shut.exitCode(), shut::toString);
        assertTrue(shut.text().contains(REFUSED), shut::toString);
        assertFalse(shut.text().contains(ARTIFACT), shut::toString);
        assertFalse(shut.text().contains(WARNED), shut::toString);
        assertEquals(0, open.exitCode(), open::toString);
        assertTrue(
                open.text().contains("rank 0 of 1: the sum of 1048576 elements begins with [1.0, 2.0, 3.0]"),
                open::toString);
        assertTrue(open.text().contains(WARNED), open::toString);
    }

    @Test
    void withoutTheFallbackTheDoctorNamesTheArtifact() throws Exception {
        String path = Stream.of(LauncherRun.classPath().split(File.pathSeparator))
                .filter(entry -> !isFallback(Path.of(entry)))
                .collect(Collectors.joining(File.pathSeparator));
        LauncherRun doctor = LauncherRun.onClassPath(path, StandInPair.runtimeOnly(), "doctor")
                .ends(0);
        assertTrue(
                doctor.outLines().stream()
                        .anyMatch(line -> line.endsWith(" none: add " + ARTIFACT + " to the class path")),
                doctor::toString);
    }

    private static List<Path> jars(boolean withFallback) {
        List<Path> all = ModulePathTest.modules();
        List<Path> others = all.stream().filter(jar -> !isFallback(jar)).toList();
        assertEquals(all.size() - 1, others.size(), all::toString);
        return withFallback ? all : others;
    }

    private static boolean isFallback(Path entry) {
        return entry.toString().contains("backend-gloo-fallback");
    }

    private static Ended run(JarPath path, String gate, List<Path> jars) throws Exception {
        Path program = Path.of(DeviceAllReduce.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        String joined = jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        List<String> line = new ArrayList<>(JavaLine.shortLived());
        line.addAll(
                path == JarPath.MODULE_PATH
                        ? List.of("-p", joined, "--add-modules", "ferro.collectives", "-cp", program.toString())
                        : List.of("-cp", program + File.pathSeparator + joined));
        line.addAll(List.of("-Dferro.backend=tcp", DeviceAllReduce.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(StandInPair.runtimeOnly());
        builder.environment().putAll(Map.of("RANK", "0", "WORLD_SIZE", "1", GATE, gate));
        try (Child child = Child.start(builder)) {
            return new Ended(child.exitCode(), String.join("\n", child.outLines()));
        }
    }
}
