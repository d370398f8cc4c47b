package ferro.job;

import static ferro.job.Environments.hydra;
import static ferro.job.Environments.openMpi;
import static ferro.job.Environments.slurmStep;
import static ferro.job.Environments.under;
import static ferro.job.Environments.with;
import static ferro.job.Environments.without;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.job.HostFacts.Ancestor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The name by which ranks of one start of a job find each other. */
class RendezvousPointTest {
    private static final Ancestor SHELL = new Ancestor(30, 3000, List.of("/bin/bash", "-c", "java Main"));
    private static final Ancestor PROXY = new Ancestor(
            20, 2000, List.of("/usr/bin/hydra_pmi_proxy", "--control-port", "alpha:39169", "--proxy-id", "0"));
    private static final Ancestor OTHER_PROXY = new Ancestor(
            21, 2100, List.of("/usr/bin/hydra_pmi_proxy", "--control-port", "alpha:40001", "--proxy-id", "0"));

    @Test
    void ranksOfOneOpenMpiJobShareAName() {
        Map<String, String> otherRank =
                with(openMpi(), Map.of("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_LOCAL_RANK", "0"));
        Map<String, String> otherJob =
                with(openMpi(), Map.of("OMPI_MCA_orte_precondition_transports", "0123456789abcdef-0123456789abcdef"));

        assertEquals(key(openMpi(), under()), key(otherRank, under(SHELL)));
        assertNotEquals(key(openMpi(), under()), key(otherJob, under()));
        assertTrue(key(openMpi(), under()).matches("ompi-[0-9a-f]{16}"), key(openMpi(), under()));
    }

    @Test
    void ranksOfOneHostAreNamedByTheirMpirunProcess() {
        Map<String, String> here = with(
                without(openMpi(), "OMPI_MCA_orte_precondition_transports"),
                Map.of("OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_LOCAL_SIZE", "2"));
        Ancestor first = new Ancestor(9, 100, List.of("mpirun"));
        Ancestor second = new Ancestor(9, 200, List.of("mpirun"));

        assertEquals(key(here, under(first)), key(here, under(SHELL, first)));
        assertNotEquals(key(here, under(first)), key(here, under(second)), "a number that is used again");
        assertTrue(JobFinder.find(here, under()).required().rendezvous().allLocal());
    }

    @Test
    void ranksOfOneHydraJobAreNamedByItsControlPort() {
        Ancestor elsewhere =
                new Ancestor(77, 7000, List.of("hydra_pmi_proxy", "--control-port", "alpha:39169", "--proxy-id", "1"));

        assertEquals(key(hydra(), under(SHELL, PROXY)), key(hydra(), under(elsewhere)));
        assertNotEquals(key(hydra(), under(PROXY)), key(hydra(), under(OTHER_PROXY)));
        assertEquals(
                Optional.empty(),
                JobFinder.find(hydra(), under(SHELL)).required().rendezvous().key());
        assertFalse(
                JobFinder.find(hydra(), under(PROXY)).required().rendezvous().allLocal());
    }

    @Test
    void aRequeuedSlurmJobHasAnotherName() {
        assertEquals("4711.3.0", key(slurmStep(), under()));
        assertEquals("4711.3.2", key(with(slurmStep(), Map.of("SLURM_RESTART_COUNT", "2")), under()));
    }

    @Test
    void aGivenJobIdTakesPrecedenceAndIsMadeAFileName() {
        assertEquals("mine", key(with(slurmStep(), Map.of("FERRO_JOB_ID", "mine")), under()));
        for (String odd : List.of("../../etc/passwd", ".hidden", "a b", "ä")) {
            String key = key(with(slurmStep(), Map.of("FERRO_JOB_ID", odd)), under());
            assertTrue(key.matches("job-[0-9a-f]{16}"), key);
        }
    }

    @Test
    void rankZeroOnAnotherThanTheFirstNodeIsRefused() {
        Map<String, String> arbitrary = with(slurmStep(), Map.of("SLURM_PROCID", "0", "SLURM_NODEID", "2"));

        String refusal = JobFinder.find(arbitrary, under()).refusal().orElseThrow();

        assertTrue(refusal.contains("set MASTER_ADDR to the host of rank 0"), refusal);
        assertEquals(
                0,
                JobFinder.find(with(arbitrary, Map.of("MASTER_ADDR", "node10")), under())
                        .required()
                        .rank());
    }

    @Test
    void staleVariablesOfFerroRunAreDetectedByTheParentProcesses() {
        Map<String, String> both = with(
                with(openMpi(), slurmStep()),
                Map.of("RANK", "0", "WORLD_SIZE", "1", "LOCAL_RANK", "0", "FERRO_STORE_SERVED", "1"));
        Ancestor ferro =
                new Ancestor(5, 50, List.of("/usr/bin/java", "-cp", "x", "ferro.launcher.FerroCommand", "run"));
        Ancestor mpirun = new Ancestor(6, 60, List.of("/usr/bin/mpirun", "-n", "4"));
        Ancestor step = new Ancestor(7, 70, List.of("slurmstepd: [4711.3]"));
        Ancestor daemon = new Ancestor(8, 80, List.of("/usr/bin/orted"));

        assertEquals(
                LauncherKind.FERRO_RUN,
                JobFinder.find(both, under(SHELL, ferro, mpirun)).required().family());
        assertEquals(
                LauncherKind.FERRO_RUN, JobFinder.find(both, under()).required().family());
        for (Ancestor inner : List.of(mpirun, step, daemon)) {
            String refusal =
                    JobFinder.find(both, under(SHELL, inner, ferro)).refusal().orElseThrow();
            assertTrue(refusal.contains("RANK=0 WORLD_SIZE=1 was set by ferro run, but " + inner.name()), refusal);
            assertTrue(refusal.contains("env -u RANK"), refusal);
            assertTrue(refusal.endsWith(inner == step ? " srun ...)" : " mpirun ...)"), refusal);
        }
    }

    private static String key(Map<String, String> variables, HostFacts around) {
        return JobFinder.find(variables, around).required().rendezvous().key().orElseThrow();
    }
}
