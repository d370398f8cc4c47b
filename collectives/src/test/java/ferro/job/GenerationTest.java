package ferro.job;

import static ferro.job.Environments.hydra;
import static ferro.job.Environments.openMpi;
import static ferro.job.Environments.pod;
import static ferro.job.Environments.podNamed;
import static ferro.job.Environments.slurmStep;
import static ferro.job.Environments.torchrun;
import static ferro.job.Environments.with;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How often a job has been started again, by the variables of each launcher. */
class GenerationTest {
    private static final HostFacts POD = podNamed("train-ranks-0-2", "train-ranks-0-2.train.default.svc");

    @Test
    void theGenerationIsTheRestartCountOfTheLauncher() {
        Map<String, String> oneHost = with(torchrun(), Map.of("LOCAL_RANK", "3", "LOCAL_WORLD_SIZE", "4"));

        assertStart(0, Optional.of("default.0"), with(oneHost, Map.of("TORCHELASTIC_RESTART_COUNT", "0")));
        assertStart(2, Optional.of("default.2"), with(oneHost, Map.of("TORCHELASTIC_RESTART_COUNT", "2")));
        assertStart(
                2,
                Optional.of("night.2"),
                with(oneHost, Map.of("TORCHELASTIC_RESTART_COUNT", "2", "TORCHELASTIC_RUN_ID", "night")));
        assertStart(1, Optional.of("4711.3.1"), with(slurmStep(), Map.of("SLURM_RESTART_COUNT", "1")));
        assertStart(3, Optional.of("train-ranks-0.3"), with(pod(), Map.of("JOBSET_RESTART_ATTEMPT", "3")));
        assertStart(4, Optional.of("default.4"), Map.of("RANK", "0", "WORLD_SIZE", "2", "FERRO_GENERATION", "4"));
    }

    @Test
    void theNameOfAJobFileContainsTheGeneration() {
        assertEquals(Optional.of("4711.3.1"), key(with(slurmStep(), Map.of("SLURM_RESTART_COUNT", "1"))));
        assertEquals(Optional.of("train-ranks-0.3"), key(with(pod(), Map.of("JOBSET_RESTART_ATTEMPT", "3"))));
        Map<String, String> unnamed = Map.of("RANK", "0", "WORLD_SIZE", "2", "FERRO_GENERATION", "4");
        assertEquals(Optional.empty(), key(unnamed), "\"default\" names no job");
    }

    @Test
    void theGenerationIsAppendedToAGivenJobId() {
        Map<String, String> named = with(slurmStep(), Map.of("FERRO_JOB_ID", "train"));

        assertStart(0, Optional.of("train"), named);
        assertStart(2, Optional.of("train.2"), with(named, Map.of("SLURM_RESTART_COUNT", "2")));
        String longest = "n".repeat(63);
        String id = job(with(named, Map.of("FERRO_JOB_ID", longest, "SLURM_RESTART_COUNT", "2")))
                .jobId()
                .orElseThrow();
        assertTrue(id.startsWith("job-") && id.length() <= 64, id);
    }

    @Test
    void aJobWithoutRestartsHasGenerationZeroAndItsPlainId() {
        assertStart(0, Optional.empty(), torchrun());
        assertStart(0, Optional.of("4711.3.0"), slurmStep());
        assertStart(0, Optional.of("train-ranks-0"), pod());
        assertStart(0, Optional.empty(), Map.of("RANK", "0", "WORLD_SIZE", "2"));
        assertEquals(0, job(openMpi()).generation());
    }

    @Test
    void aLauncherThatServesTheStoreChoosesTheId() {
        Map<String, String> ofFerroRun = Map.of(
                "RANK",
                "0",
                "WORLD_SIZE",
                "2",
                "FERRO_STORE_SERVED",
                "1",
                "FERRO_JOB_ID",
                "a",
                "FERRO_GENERATION",
                "2");

        assertStart(2, Optional.of("a"), ofFerroRun);
    }

    /** Each agent of torchrun counts only the failures of its own node. */
    @Test
    void torchrunOnSeveralNodesHasNoCommonGeneration() {
        Map<String, String> second = Map.of("TORCHELASTIC_RESTART_COUNT", "2", "TORCHELASTIC_RUN_ID", "night");

        assertStart(2, Optional.of("night"), with(torchrun(), second));
        assertStart(5, Optional.of("night.5"), with(with(torchrun(), second), Map.of("FERRO_GENERATION", "5")));
    }

    /** Ranks of one mpirun or of one ssh may see the counts of different outer launchers. */
    @Test
    void theCountOfAnOuterLauncherIsIgnored() {
        Map<String, String> outer = with(slurmStep(), Map.of("SLURM_RESTART_COUNT", "1"));

        for (Map<String, String> inner :
                List.of(openMpi(), hydra(), torchrun(), Map.of("RANK", "0", "WORLD_SIZE", "2"))) {
            assertEquals(0, job(with(outer, inner)).generation());
        }
    }

    @Test
    void aRestartCountThatIsNotANumberIsRefused() {
        assertRefused("TORCHELASTIC_RESTART_COUNT=x", with(torchrun(), Map.of("TORCHELASTIC_RESTART_COUNT", "x")));
        assertRefused("SLURM_RESTART_COUNT=-1", with(slurmStep(), Map.of("SLURM_RESTART_COUNT", "-1")));
        assertRefused("JOBSET_RESTART_ATTEMPT=1.0", with(pod(), Map.of("JOBSET_RESTART_ATTEMPT", "1.0")));
        assertRefused(
                "FERRO_GENERATION=two",
                with(torchrun(), Map.of("FERRO_GENERATION", "two", "TORCHELASTIC_RESTART_COUNT", "1")));
    }

    private static void assertRefused(String shown, Map<String, String> variables) {
        String refusal = JobFinder.find(variables, POD).refusal().orElseThrow();
        assertEquals(shown + ": need a number of restarts from 0", refusal);
    }

    private static void assertStart(int generation, Optional<String> jobId, Map<String, String> variables) {
        RankOfJob job = job(variables);
        assertEquals(generation, job.generation());
        assertEquals(jobId, job.jobId());
    }

    private static Optional<String> key(Map<String, String> variables) {
        return job(variables).rendezvous().key();
    }

    private static RankOfJob job(Map<String, String> variables) {
        return JobFinder.find(variables, POD).required();
    }
}
