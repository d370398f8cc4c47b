package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users of a machine without NCCL read: one line, before anything is started, with the way out. */
class WithoutNcclTest {
    private static final Map<String, String> NOWHERE = Map.of("FERRO_NCCL_LIBRARY", "/nowhere/libnccl.so.2");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench allreduce --backend nccl",
                "run -n 2 --backend nccl -- true",
                "run -n 2 --backend cpu:tcp,cuda:nccl -- true",
                "run -n 2 -J-Dferro.backend=nccl ferro.examples.hello.HelloAllReduce"
            })
    @DisplayName("2-31 3-16: the launcher says why NCCL cannot be used, and starts nothing")
    @Tag("long")
    void theLauncherReportsMissingNcclAndStartsNothing(String typed) throws Exception {
        LauncherRun run = LauncherRun.start(NOWHERE, typed.split(" ")).ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(1, run.errLines().size(), run::toString);
        for (String part : List.of(
                "back end \"nccl\" cannot work here: NCCL library libnccl.so.2 not found",
                "/nowhere/libnccl.so.2 (cannot open shared object file",
                "install NCCL",
                "-Dferro.nccl.library",
                "usable here: tcp, ")) {
            run.assertErr(part);
        }
    }

    @Test
    @DisplayName("2-31: a program that names nccl by a property is told the same")
    void aProgramStartedByHandIsToldTheSame() throws Exception {
        List<String> options = List.of(
                "-Dferro.backend=nccl",
                "-Dferro.nccl.library=/nowhere/libnccl.so.2",
                "-Dferro.rank=0",
                "-Dferro.world.size=1");
        String said = Child.run(1, new ProcessBuilder(JavaLine.rank(options, "ferro.examples.hello.HelloAllReduce")));

        assertTrue(said.contains("no usable back end for -Dferro.backend=nccl; found: "), said);
        assertTrue(said.contains("nccl (NCCL library libnccl.so.2 not found"), said);
        assertTrue(said.contains("-Dferro.nccl.library"), said);
    }

    @Test
    @DisplayName("3-11: the doctor lists every place where NCCL was looked for, and the job can run without")
    void theDoctorListsWhatWasTried() throws Exception {
        LauncherRun run = LauncherRun.start(NOWHERE, "doctor").ends(0);
        String said = String.join("\n", run.outLines());
        assertTrue(said.contains("/nowhere/libnccl.so.2: cannot open shared object file"), said);
        assertTrue(said.contains("its gate                     shut: nothing is set"), said);
        assertFalse(said.contains("WARNING"), said);
    }
}
