package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.BackendReport;
import ferro.group.SystemContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
    private final String folder = System.getProperty("java.io.tmpdir");

    private static final Programs PROGRAMS = new Programs("/usr/bin:/bin");

    @Test
    void ordinaryMachineCanRunAJob() {
        Diagnosis diagnosis = diagnose(Map.of());

        assertEquals(List.of(), diagnosis.problems());
        assertTrue(text(diagnosis).contains("a job of several ranks can run here"), text(diagnosis));
        assertTrue(text(diagnosis).contains("127.0.0.1"), text(diagnosis));
    }

    @Test
    void backendThatReachesNoOtherProcessIsAProblem() {
        Diagnosis diagnosis = diagnose(Map.of("ferro.backend", "simulated"));

        assertEquals(1, diagnosis.problems().size(), text(diagnosis));
        assertTrue(diagnosis.problems().get(0).contains("ferro.backend=simulated"), text(diagnosis));
        assertTrue(text(diagnosis).contains("no job of several ranks can run here"), text(diagnosis));
    }

    @Test
    void settingThatMakesNoSenseIsAProblemAndHidesNoBackend() {
        Diagnosis diagnosis = diagnose(Map.of("ferro.tcp.io", "pigeon"));

        assertTrue(diagnosis.problems().get(0).contains("ferro.tcp.io=pigeon"), text(diagnosis));
        assertTrue(text(diagnosis).contains("simulated"), text(diagnosis));
    }

    @Test
    void sharedMemoryIsShownWithItsFolderAndWhatItLacks() {
        assertEquals("yes", diagnose(Map.of("ferro.shm.dir", folder)).shm().get("works"));
        Map<String, String> missing = Map.of("ferro.shm.dir", folder + "/gone", "ferro.links", "shm");
        assertEquals(
                "no: ferro.shm.dir=" + folder + "/gone is no folder: name one in a file system that lives in memory",
                diagnose(missing).shm().get("works"));
        assertEquals(1, diagnose(missing).problems().size());
        assertEquals(
                List.of(), diagnose(Map.of("ferro.shm.dir", folder + "/gone")).problems());
        String little = diagnose(Map.of("ferro.shm.dir", folder, "ferro.shm.bytes", "1KiB"))
                .shm()
                .get("works");
        assertTrue(little.contains("need 4096 bytes, have 1024"), little);
        assertTrue(diagnose(Map.of("ferro.links", "x")).problems().get(0).contains("ferro.links=x"));
    }

    @Test
    void brokenProviderIsShownWithItsReason() {
        BackendReport broken = new BackendReport("OddProvider", Integer.MIN_VALUE, Optional.of("broken: no \"odd\""));
        Diagnosis diagnosis = new Diagnosis(
                List.of(broken),
                Map.of(),
                Map.of("works", "yes"),
                Map.of("its gate", "shut"),
                Map.of("java", "17"),
                List.of("none"));

        assertTrue(text(diagnosis).contains("not usable: broken: no \"odd\""), text(diagnosis));
        assertEquals(
                "{\"backends\":[{\"name\":\"OddProvider\",\"usable\":false,\"reason\":\"broken: no \\\"odd\\\"\","
                        + "\"auto\":false}],\"tcp\":{},\"shm\":{\"works\":\"yes\"},\"gpu\":{\"its gate\":\"shut\"},\"machine\":{\"java\":\"17\"},\"problems\":[\"none\"],\"ok\":false}",
                Json.text(diagnosis.asMap()));
    }

    @Test
    @DisplayName("3-11 3-16: the doctor lists every place where NCCL was looked for")
    void libraryThatIsNotThereIsShownWithWhatWasTried() {
        Diagnosis diagnosis = diagnose(Map.of("ferro.nccl.library", "/nowhere/libnccl.so.2"));

        assertTrue(diagnosis.gpu().get("nccl").contains("libnccl.so.2 not found"), text(diagnosis));
        assertTrue(diagnosis.gpu().get("nccl").contains("-Dferro.nccl.library"), text(diagnosis));
        String tried = diagnosis.gpu().get("tried, 1");
        assertTrue(tried.startsWith("/nowhere/libnccl.so.2: ") && tried.contains("No such file"), text(diagnosis));
        assertEquals(List.of(), diagnosis.problems());
    }

    @Test
    @DisplayName("3-16: the doctor does not send to the doctor, and asks as a rank would")
    void doctorDoesNotSendToTheDoctor() {
        assertEquals(
                "not found in any of 9 places, listed below: install",
                Diagnosis.inTheDoctor("not found in any of 9 places (ferro doctor lists them): install"));
        Diagnosis diagnosis = diagnose(Map.of("ferro.cudart.library", "/nowhere/libcudart.so"));
        assertFalse(text(diagnosis).contains("ferro doctor"), text(diagnosis));
        try (SystemContext context = SystemContext.of(Map.of())) {
            assertEquals(Optional.of("0"), new FirstRank(context).setting("LOCAL_RANK"));
            assertEquals(Optional.empty(), new FirstRank(context).setting("RANK"));
        }
    }

    @Test
    @DisplayName("decision 1: the doctor says who decides about the gate")
    void gateIsShownWithWhoDecides() {
        assertEquals("shut: nothing is set", diagnose(Map.of()).gpu().get("its gate"));
        assertEquals(
                "open: FERRO_ENABLE_GPU_FALLBACK says so",
                diagnose(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1")).gpu().get("its gate"));
        assertEquals(
                "shut: ferro.gpu.fallback says so",
                diagnose(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1", "ferro.gpu.fallback", "off"))
                        .gpu()
                        .get("its gate"));
    }

    @Test
    void pairOfBackendsIsJudgedByBothHalves() {
        assertEquals(
                1,
                diagnose(Map.of("ferro.backend", "cpu:tcp,cuda:pigeon"))
                        .problems()
                        .size());
    }

    @Test
    void controlCharactersAreEscapedInJson() {
        assertEquals("\"a\\u000ab\\\\c\\\"\"", Json.text("a\nb\\c\""));
    }

    @Test
    void demoLearnsFromTheCheckoutAndDrawsABarOnlyForThoseWhoWatch() {
        Optional<Path> checkout = Optional.of(Path.of("/checkout"));

        assertEquals(
                List.of("--text", "/checkout", "--progress", "bar"), DemoCommand.defaults(List.of(), checkout, true));
        assertEquals(List.of(), DemoCommand.defaults(List.of("--text=/x", "--progress", "lines"), checkout, true));
        assertEquals(List.of(), DemoCommand.defaults(List.of(), Optional.empty(), false));
    }

    private static Diagnosis diagnose(Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            return Diagnosis.of(context, PROGRAMS);
        }
    }

    private static String text(Diagnosis diagnosis) {
        return String.join("\n", diagnosis.lines());
    }
}
