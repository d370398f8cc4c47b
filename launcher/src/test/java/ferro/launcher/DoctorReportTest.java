package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.nccl.device.NcclAvailability;
import ferro.group.BackendReport;
import ferro.group.SystemContext;
import ferro.launcher.doctor.DoctorReport;
import ferro.launcher.input.DescriptorCheck;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.rank.CoreBinding;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DoctorReportTest {
    private final String folder = System.getProperty("java.io.tmpdir");

    private static final ProgramFinder PROGRAMS = new ProgramFinder("/usr/bin:/bin");

    @Test
    void anOrdinaryMachineCanRunAJob() {
        DoctorReport diagnosis = diagnose(Map.of());

        assertEquals(List.of(), diagnosis.problems());
        assertHas(text(diagnosis), "a job of several ranks can run here", "127.0.0.1");
    }

    @Test
    void theReportBeginsWithVerdictThenProblemsThenDetails() {
        assertEquals(
                "a job of several ranks can run here",
                diagnose(Map.of()).lines().get(0));
        List<String> lines = diagnose(Map.of("ferro.backend", "simulated")).lines();
        assertEquals("no job of several ranks can run here", lines.get(0));
        assertStarts(lines.get(1), "  no back end that joins processes is usable");
        assertEquals("job", lines.get(2));
    }

    @Test
    void theAddressAndPortsAreShownWithTheirDecidingSettings() {
        Map<String, String> tcp = diagnose(
                        Map.of("ferro.tcp.interface", "127.0.0.0/8", "ferro.tcp.port", "20000-20003"))
                .tcp();
        assertEquals("127.0.0.1", tcp.get("address"));
        assertEquals("set by ferro.tcp.interface=127.0.0.0/8", tcp.get("why this address"));
        assertEquals("lo, for a job on this host", tcp.get("interface"));
        assertEquals("ferro.tcp.port=20000-20003, for 4 ranks of this host", tcp.get("ports"));
        assertStarts(tcp.get("for NCCL"), "NCCL_SOCKET_IFNAME==lo,");

        Map<String, String> plain = diagnose(Map.of()).tcp();
        assertEquals("any free port", plain.get("ports"));
        assertFalse(plain.containsKey("for NCCL"), plain::toString);

        String none = problems(Map.of("ferro.tcp.interface", "nothing7")).get(0);
        assertTrue(
                none.contains("ferro.tcp.interface=nothing7: no interface that is up") && none.contains("lo ("), none);
    }

    @Test
    void aBackendThatReachesNoOtherProcessIsAProblem() {
        DoctorReport diagnosis = diagnose(Map.of("ferro.backend", "simulated"));

        assertEquals(1, diagnosis.problems().size(), text(diagnosis));
        assertHas(diagnosis.problems().get(0), "ferro.backend=simulated");
        assertHas(text(diagnosis), "no job of several ranks can run here");
    }

    @Test
    void anInvalidSettingIsAProblemButAllBackendsAreShown() {
        DoctorReport diagnosis = diagnose(Map.of("ferro.tcp.io", "pigeon"));

        assertHas(diagnosis.problems().get(0), "ferro.tcp.io=pigeon");
        assertHas(text(diagnosis), "simulated");
    }

    @Test
    void sharedMemoryIsShownWithItsFolderOrTheReasonWhyItFails() {
        assertEquals("yes", diagnose(Map.of("ferro.shm.dir", folder)).shm().get("works"));
        Map<String, String> missing = Map.of("ferro.shm.dir", folder + "/gone", "ferro.links", "shm");
        assertEquals(
                "no: ferro.shm.dir=" + folder + "/gone is not a folder: name a folder of a file system in memory",
                diagnose(missing).shm().get("works"));
        assertEquals(1, problems(missing).size());
        assertEquals(List.of(), problems(Map.of("ferro.shm.dir", folder + "/gone")));
        String little = diagnose(Map.of("ferro.shm.dir", folder, "ferro.shm.bytes", "1KiB"))
                .shm()
                .get("works");
        assertHas(little, "need 4096 bytes, have 1024");
        assertHas(problems(Map.of("ferro.links", "x")).get(0), "ferro.links=x");
    }

    @Test
    void aBrokenProviderIsShownWithItsReason() {
        BackendReport broken = new BackendReport("OddProvider", Integer.MIN_VALUE, Optional.of("broken: no \"odd\""));
        DoctorReport diagnosis = new DoctorReport(
                Map.of("seen", "nobody"),
                List.of(broken),
                Map.of(),
                Map.of("works", "yes"),
                Map.of("its gate", "shut"),
                Map.of("java", "17"),
                List.of("none"),
                List.of("few"));

        assertHas(text(diagnosis), "not usable: broken: no \"odd\"");
        assertEquals(
                "{\"job\":{\"seen\":\"nobody\"},\"backends\":[{\"name\":\"OddProvider\",\"usable\":false,\"reason\":\"broken: no \\\"odd\\\"\","
                        + "\"auto\":false}],\"tcp\":{},\"shm\":{\"works\":\"yes\"},\"gpu\":{\"its gate\":\"shut\"},\"machine\":{\"java\":\"17\"},\"problems\":[\"none\"],\"limits\":[\"few\"],\"ok\":false}",
                diagnosis.json());
    }

    @Test
    @DisplayName("3-11 3-16: the doctor lists every place where NCCL was looked for")
    void libraryThatIsNotThereIsShownWithWhatWasTried() {
        DoctorReport diagnosis = diagnose(Map.of("ferro.nccl.library", "/nowhere/libnccl.so.2"));

        assertHas(diagnosis.gpu().get("nccl"), "libnccl.so.2 not found");
        assertHas(diagnosis.gpu().get("nccl"), "-Dferro.nccl.library");
        String tried = diagnosis.gpu().get("tried, 1");
        assertTrue(tried.startsWith("/nowhere/libnccl.so.2: ") && tried.contains("No such file"), text(diagnosis));
        assertEquals(List.of(), diagnosis.problems());
    }

    @Test
    @DisplayName("3-16: where the kernel shows no GPU one line says so")
    void withoutAGpuTheReportHasOneLineAboutIt() {
        try (SystemContext context = SystemContext.of(Map.of())) {
            assumeTrue(NcclAvailability.noGpuBecause(context).isPresent(), "the kernel shows a GPU");
        }
        DoctorReport diagnosis = diagnose(Map.of());

        assertEquals(Set.of("nccl", "its gate"), diagnosis.gpu().keySet());
    }

    @Test
    void tooFewOpenFilesForTwoRanksAreTheVerdict() {
        List<String> lines = diagnose(Map.of(), 4, 40).lines();

        assertEquals("no job of several ranks can run here", lines.get(0));
        assertEquals(
                "  a job of 2 ranks, 2 of them on this host, needs about 54 open files per process, but may have only 40: raise the"
                        + " limit (ulimit -n 1024)",
                lines.get(1));
        assertEquals("job", lines.get(2));
    }

    @Test
    void tooFewOpenFilesForARankPerCoreOrForTheCompilerAreALimit() {
        List<String> lines = diagnose(Map.of(), 32, 60).lines();

        assertEquals("a job of several ranks can run here, within limits", lines.get(0));
        assertStarts(lines.get(1), "  a job of 32 ranks, 32 of them on this host, needs about 172 ");
        assertStarts(lines.get(2), "  compiling a source file needs about 64 open files");
        assertEquals("job", lines.get(3));
        assertEquals(List.of(), diagnose(Map.of(), 32, 172).limits());
        assertTrue(diagnose(Map.of(), 32, 60).json().matches(".*\"limits\":\\[\"a job of 32 .*,\"ok\":true}"));
    }

    @Test
    void sharedMemoryIsJudgedByWhatTheGroupsOfRanksTake() {
        Map<String, String> plenty = Map.of("ferro.shm.dir", folder);
        assertEquals(List.of(), diagnose(plenty, 2, 1024).limits());
        String enough = diagnose(plenty, 2, 1024).shm().get("enough for");
        assertTrue(enough.matches("a group of \\d+ ranks; one of 2 takes 8 MiB"), enough);

        Map<String, String> little = Map.of("ferro.shm.dir", folder, "ferro.shm.bytes", "3MiB");
        DoctorReport report = diagnose(little, 2, 1024);
        assertEquals(
                "a job of several ranks can run here, within limits",
                report.lines().get(0));
        assertTrue(
                report.limits().get(0).startsWith("2 ranks here cannot share memory, and would use TCP: ")
                        && report.limits().get(0).contains("of the 3145728 that this rank may take"),
                report.limits()::toString);
        assertEquals(List.of(), report.problems());

        Map<String, String> nothingElse = new HashMap<>(little);
        nothingElse.put("ferro.links", "shm");
        DoctorReport refused = diagnose(nothingElse, 2, 1024);
        assertEquals(1, refused.problems().size(), text(refused));
        assertHas(refused.problems().get(0), "but ferro.links=shm requires it");
    }

    @Test
    void missingSharedMemoryIsALimitUnlessTcpIsSelected() {
        Map<String, String> gone = Map.of("ferro.shm.dir", folder + "/gone");
        assertStarts(limits(gone).get(0), "ranks here cannot share memory, and would use TCP: ");
        assertEquals(List.of(), limits(Map.of("ferro.shm.dir", folder + "/gone", "ferro.links", "tcp")));
    }

    @Test
    @DisplayName("3-16: the doctor does not send to the doctor, and asks as a rank would")
    void theDoctorDoesNotAdviseToRunTheDoctor() {
        assertEquals(
                "not found in any of 9 places, listed below: install",
                DoctorReport.inTheDoctor(
                        "not found in any of 9 places (FERRO_BACKEND=nccl ferro doctor lists them): install"));
        DoctorReport diagnosis = diagnose(Map.of("ferro.cudart.library", "/nowhere/libcudart.so"));
        assertLacks(text(diagnosis), "ferro doctor");
        try (SystemContext context = SystemContext.of(Map.of())) {
            assertEquals(Optional.of("0"), DoctorReport.asFirstRank(context).setting("LOCAL_RANK"));
            assertEquals(Optional.empty(), DoctorReport.asFirstRank(context).setting("RANK"));
        }
    }

    @Test
    @DisplayName("decision 1: the doctor says who decides about the gate")
    void theFallbackDecisionIsShownWithTheSettingThatDecides() {
        assertEquals("shut: nothing is set", gate(Map.of()));
        assertEquals("open: FERRO_ENABLE_GPU_FALLBACK says so", gate(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1")));
        assertEquals(
                "shut: ferro.gpu.fallback says so",
                gate(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1", "ferro.gpu.fallback", "off")));
    }

    @Test
    void detectedLaunchersAreShownWithTheReasonTheyAreNotUsed() {
        Map<String, String> openMpiInSlurm = Map.of(
                "OMPI_COMM_WORLD_RANK", "1",
                "OMPI_COMM_WORLD_SIZE", "4",
                "OMPI_COMM_WORLD_LOCAL_RANK", "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                "SLURM_PROCID", "0",
                "SLURM_JOB_ID", "4711");
        DoctorReport diagnosis = diagnose(openMpiInSlurm);

        assertEquals("job", diagnosis.lines().get(1));
        assertStarts(diagnosis.job().get("a program started here"), "joins: job of Open MPI: rank 1 of 4");
        assertEquals(
                "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4, chosen",
                diagnosis.job().get("seen: Open MPI"));
        String slurm = diagnosis.job().get("seen: Slurm");
        assertTrue(
                slurm.matches("SLURM_\\S+ SLURM_\\S+ belongs to a Slurm allocation, not to a task of a step.*"), slurm);
        assertEquals(List.of(), diagnosis.problems());
        assertEquals(
                "has no rank: no launcher's variables are set",
                diagnose(Map.of()).job().get("a program started here"));
        assertEquals(List.of(), problems(Map.of("SLURM_JOB_ID", "4711")));
        Map<String, String> both = new HashMap<>(openMpiInSlurm);
        both.putAll(Map.of("RANK", "0", "WORLD_SIZE", "2"));
        assertHas(problems(both).get(0), "RANK=0 WORLD_SIZE=2");
        assertHas(problems(Map.of("RANK", "x", "WORLD_SIZE", "2")).get(0), "RANK=x");
    }

    @Test
    void bothBackendsOfAPairAreChecked() {
        assertEquals(1, problems(Map.of("ferro.backend", "cpu:tcp,cuda:pigeon")).size());
    }

    @Test
    void theDemoUsesTheTextOfTheCheckoutByDefault() {
        Optional<Path> checkout = Optional.of(Path.of("/checkout"));

        assertEquals(List.of("--text", "/checkout"), DemoCommand.defaults(List.of(), checkout));
        assertEquals(List.of(), DemoCommand.defaults(List.of("--text=/x"), checkout));
        assertEquals(List.of(), DemoCommand.defaults(List.of(), Optional.empty()));
    }

    private static List<String> problems(Map<String, String> settings) {
        return diagnose(settings).problems();
    }

    private static List<String> limits(Map<String, String> settings) {
        return diagnose(settings).limits();
    }

    private static String gate(Map<String, String> settings) {
        return diagnose(settings).gpu().get("its gate");
    }

    private static DoctorReport diagnose(Map<String, String> settings) {
        return diagnose(settings, 2, 1024);
    }

    private static DoctorReport diagnose(Map<String, String> settings, int cores, int openFiles) {
        try (SystemContext context = SystemContext.of(settings)) {
            return DoctorReport.of(
                    context,
                    PROGRAMS,
                    new CoreBinding.UsableCores(cores, List.of()),
                    new DescriptorCheck(OptionalLong.of(openFiles), 26));
        }
    }

    private static String text(DoctorReport diagnosis) {
        return String.join("\n", diagnosis.lines());
    }
}
