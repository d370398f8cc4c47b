package ferro.job;

import static ferro.job.Environments.hydra;
import static ferro.job.Environments.openMpi;
import static ferro.job.Environments.pod;
import static ferro.job.Environments.podNamed;
import static ferro.job.Environments.slurmShell;
import static ferro.job.Environments.slurmStep;
import static ferro.job.Environments.torchrun;
import static ferro.job.Environments.with;
import static ferro.job.Environments.without;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Which launcher is believed, and what is refused. */
class JobFinderTest {
    private static final HostFacts HOST = HostFacts.nothingBut("alpha");

    @Test
    void theRankIsReadFromVariablesOfOpenMpi() {
        RankOfJob job = job(openMpi());

        assertEquals(LauncherKind.OPEN_MPI, job.family());
        assertEquals(List.of(1, 4, 0, 2), numbers(job));
        assertEquals(Optional.empty(), job.rendezvous().host());
        assertEquals("job of Open MPI: rank 1 of 4, 0 of 2 on this host", line(openMpi()));
    }

    @Test
    void theRankIsReadFromVariablesOfHydra() {
        RankOfJob job = job(hydra());

        assertEquals(LauncherKind.HYDRA, job.family());
        assertEquals(List.of(1, 4, 0, 2), numbers(job));
    }

    @Test
    void theRankIsReadFromVariablesOfASlurmStep() {
        RankOfJob job = job(slurmStep());

        assertEquals(LauncherKind.SLURM, job.family());
        assertEquals(List.of(5, 11, 1, 4), numbers(job));
        assertEquals(Optional.of("node07"), job.rendezvous().host());
        assertEquals(Optional.of("4711.3.0"), job.rendezvous().key());
        assertEquals(
                OptionalInt.of(20000 + (4711 + 97 * 3) % 10000),
                job.rendezvous().port());
    }

    @Test
    void aPodIndexIsARankIfTheManifestSetsTheNumberOfRanks() {
        RankOfJob job = JobFinder.find(pod(), podNamed("train-2", "train-2.workers.default.svc.cluster.local"))
                .required();

        assertEquals(LauncherKind.INDEX, job.family());
        assertEquals(List.of(2, 4, 0, 1), numbers(job));
        assertEquals(Optional.of("train-0.workers"), job.rendezvous().host());
        assertEquals(OptionalInt.of(29500), job.rendezvous().port());
        assertEquals(Optional.of("train"), job.rendezvous().key());
    }

    @Test
    void theNumberOfRanksOfPodsMayBeAProperty() {
        Map<String, String> byProperty = with(without(pod(), "FERRO_WORLD_SIZE"), Map.of("ferro.world.size", "5"));

        assertEquals(List.of(2, 5, 0, 1), numbers(job(byProperty)));
        assertEquals(5, job(with(pod(), Map.of("ferro.world.size", "5"))).worldSize());
    }

    @Test
    void aJobNumberOfMoreThan31BitsIsAccepted() {
        RankOfJob job = job(with(slurmStep(), Map.of("SLURM_JOB_ID", "4362076160")));

        assertEquals(Optional.of("4362076160.3.0"), job.rendezvous().key());
        assertEquals(OptionalInt.of(20000 + 6160 + 97 * 3), job.rendezvous().port());
    }

    @Test
    void theShellOfAnInteractiveAllocationIsRefused() {
        Map<String, String> shell =
                Map.of("SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "SLURM_STEP_ID", "4294967290");
        assertRefused(
                with(slurmStep(), shell), "SLURM_STEP_ID=4294967290 is the shell of an interactive Slurm allocation");
    }

    @Test
    void aLauncherInsideASlurmStepTakesPrecedence() {
        for (Map<String, String> inner : List.of(openMpi(), hydra(), torchrun())) {
            JobVariables found = JobFinder.find(with(slurmStep(), inner), HOST);

            assertEquals(job(inner).rank(), found.required().rank());
            assertTrue(found.line().endsWith("; Slurm's variables describe the surrounding allocation"), found.line());
            assertEquals("chosen", found.seen().get(0).verdict());
            assertEquals(LauncherKind.SLURM, found.seen().get(1).family());
        }
    }

    @Test
    void ferroVariablesTakePrecedenceOverEveryLauncher() {
        Map<String, String> given = Map.of("FERRO_RANK", "7", "FERRO_WORLD_SIZE", "9");
        for (Map<String, String> launcher : List.of(openMpi(), hydra(), slurmStep(), torchrun(), pod())) {
            RankOfJob job = job(with(launcher, given));

            assertEquals(LauncherKind.GIVEN, job.family());
            assertEquals(List.of(7, 9), numbers(job).subList(0, 2));
        }
        assertEquals(2, job(with(given, Map.of("ferro.rank", "2"))).rank());
    }

    @Test
    void aFerroRankIsCompletedByWorldSize() {
        RankOfJob job = job(Map.of("ferro.rank", "1", "WORLD_SIZE", "3"));

        assertEquals(List.of(1, 3), numbers(job).subList(0, 2));
    }

    @Test
    void rankAndWorldSizeReplaceSlurmAndAnEqualMpi() {
        assertEquals(
                LauncherKind.BARE,
                job(with(slurmStep(), Map.of("RANK", "0", "WORLD_SIZE", "2"))).family());
        assertEquals(
                LauncherKind.BARE,
                job(with(openMpi(), Map.of("RANK", "1", "WORLD_SIZE", "4"))).family());
    }

    @Test
    void rankAndWorldSizeThatContradictMpiAreRefused() {
        for (Map<String, String> mpi : List.of(openMpi(), hydra())) {
            Map<String, String> byHand = Map.of("RANK", "0", "WORLD_SIZE", "2");
            assertRefused(with(mpi, byHand), "RANK=0 WORLD_SIZE=2 and ", "RANK=1 ", "SIZE=4", "env -u NAME");
        }
    }

    @Test
    void aWorldSizeThatCountsPodsIsNotUsedForMpiInThePod() {
        Map<String, String> pods = Map.of("RANK", "0", "WORLD_SIZE", "2", "PET_NNODES", "2");

        assertRefused(with(pods, openMpi()), "RANK=0 WORLD_SIZE=2 and OMPI_COMM_WORLD_RANK=1");
        assertEquals(LauncherKind.PYTORCH_JOB, job(pods).family());
        assertRefused(with(pods, Map.of("PET_NPROC_PER_NODE", "8")), "RANK counts pods", "PET_NPROC_PER_NODE=8");
    }

    @Test
    void aWorldSizeWithoutRankIsIgnoredUnderMpi() {
        JobVariables found = JobFinder.find(with(openMpi(), Map.of("WORLD_SIZE", "2")), HOST);

        assertEquals(4, found.required().worldSize());
        assertTrue(found.line().contains("WORLD_SIZE=2 is ignored"), found.line());
    }

    @Test
    void pmiRankUnderSlurmIsNotUsed() {
        RankOfJob job = job(with(slurmStep(), Map.of("PMI_RANK", "1", "PMI_SIZE", "3")));

        assertEquals(LauncherKind.SLURM, job.family());
        assertEquals(5, job.rank());
        assertRefused(Map.of("PMI_RANK", "1", "PMI_SIZE", "3"), "MPI_LOCALRANKID and MPI_LOCALNRANKS is missing");
    }

    @Test
    void pmixRankWithoutANumberOfRanksIsNotUsed() {
        Map<String, String> pmix = Map.of("PMIX_RANK", "5", "PMIX_NAMESPACE", "slurm.pmix.4711.3");

        assertEquals(LauncherKind.SLURM, job(with(slurmStep(), pmix)).family());
        assertRefused(pmix, "PMIX_RANK=5 is set without a number of ranks");
    }

    @Test
    void theShellOfAnAllocationIsRefused() {
        assertRefused(slurmShell(), "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS is missing: start the program by srun");
    }

    @Test
    void variablesOfTheInnerLauncherReplaceThoseOfTheOuter() {
        Map<String, String> stale = Map.of("SLURM_STEP_NUM_TASKS", "1", "SLURM_STEP_ID", "0", "WORLD_SIZE", "64");

        assertEquals(List.of(1, 4, 0, 2), numbers(job(with(with(slurmShell(), stale), hydra()))));
    }

    @Test
    void aHeterogeneousJobIsRefusedWithTheRemedy() {
        assertRefused(
                with(slurmStep(), Map.of("SLURM_HET_SIZE", "2")),
                "SLURM_HET_SIZE=2",
                "set FERRO_RANK and FERRO_WORLD_SIZE");
        assertEquals(5, job(with(slurmStep(), Map.of("SLURM_HET_SIZE", "1"))).rank());
    }

    @Test
    void aMissingVariableOfALauncherIsNamed() {
        assertMissing("FERRO_RANK", Map.of("FERRO_WORLD_SIZE", "4"));
        assertMissing("FERRO_WORLD_SIZE", with(openMpi(), Map.of("FERRO_RANK", "1")));
        assertMissing("WORLD_SIZE", Map.of("RANK", "1"));
        assertMissing("OMPI_COMM_WORLD_LOCAL_SIZE", without(openMpi(), "OMPI_COMM_WORLD_LOCAL_SIZE"));
        assertRefused(Map.of("JOB_COMPLETION_INDEX", "1"), "set FERRO_WORLD_SIZE in the manifest");
    }

    @Test
    void severalReplicasOfAJobSetAreRefused() {
        String refusal = JobFinder.find(pod(), podNamed("train-workers-1-2", "train-workers-1-2.train.default.svc"))
                .refusal()
                .orElseThrow();

        assertTrue(refusal.contains("belongs to replica 1 of a JobSet"), refusal);
        assertTrue(refusal.contains("replicas: 1"), refusal);
        // replica 0 looks as the only one does, and is left to the JobSet, which ends with the others
        assertEquals(
                Optional.of("train-workers-0-0.train"),
                JobFinder.find(pod(), podNamed("train-workers-0-2", "train-workers-0-2.train.default.svc"))
                        .required()
                        .rendezvous()
                        .host());
    }

    @Test
    void aPodWithoutAServiceFailsWithWhatTheManifestNeeds() {
        RendezvousPoint meeting =
                JobFinder.find(pod(), podNamed("train-2", null)).required().rendezvous();

        assertEquals(Optional.empty(), meeting.host());
        String why = meeting.noHost().orElseThrow();
        for (String part : List.of("subdomain: train", "clusterIP: None", "publishNotReadyAddresses: true")) {
            assertTrue(why.contains(part), why);
        }
        String renamed = JobFinder.find(pod(), podNamed("gpu-node-17", null))
                .required()
                .rendezvous()
                .noHost()
                .orElseThrow();
        assertTrue(renamed.contains("hostNetwork"), renamed);
    }

    @Test
    void anIpv6MasterAddressNeedsNoBrackets() {
        for (String text : List.of("fd00::2", "[fd00::2]")) {
            Map<String, String> named = with(torchrun(), Map.of("MASTER_ADDR", text));
            assertEquals(Optional.of("fd00::2"), job(named).rendezvous().host());
        }
        Map<String, String> withPort = with(torchrun(), Map.of("MASTER_ADDR", "10.0.0.1:29500"));
        assertRefused(withPort, "MASTER_ADDR=10.0.0.1:29500", "MASTER_PORT");
    }

    @Test
    void aMasterAddressReplacesThatOfTheLauncher() {
        RendezvousPoint meeting = job(with(slurmStep(), Map.of("MASTER_ADDR", "head", "MASTER_PORT", "1234")))
                .rendezvous();

        assertEquals(Optional.of("head"), meeting.host());
        assertEquals(OptionalInt.of(1234), meeting.port());
    }

    @Test
    void anInvalidValueIsNamedWithTheRemedy() {
        assertRefused(
                with(openMpi(), Map.of("OMPI_COMM_WORLD_RANK", "one")),
                "OMPI_COMM_WORLD_RANK=one: need a rank from 0; start the program by mpirun");
        assertRefused(
                with(slurmStep(), Map.of("SLURM_PROCID", "11")),
                "SLURM_PROCID=11 of SLURM_STEP_NUM_TASKS=11: need a rank from 0 to 10");
        assertRefused(with(slurmStep(), Map.of("SLURM_NODEID", "3")), "SLURM_NODEID=3", "the list has 3 nodes");
        assertEquals("RANK=x: need a rank from 0", refusal(Map.of("RANK", "x", "WORLD_SIZE", "2")));
        assertEquals(
                "RANK=2 of WORLD_SIZE=2: need a rank from 0 to 1", refusal(Map.of("RANK", "2", "WORLD_SIZE", "2")));
        IllegalArgumentException none = assertThrows(
                IllegalArgumentException.class,
                () -> JobFinder.find(Map.of(), HOST).required());
        String first = none.getStackTrace()[0].getClassName();
        assertEquals(false, first.startsWith("ferro."), first);
    }

    @Test
    void theErrorForAMissingRankNamesAllWaysToSetIt() {
        String refusal = refusal(Map.of());
        assertTrue(refusal.startsWith("this process does not know its rank: start it with a launcher ("), refusal);
        assertRefused(
                Map.of(),
                "ferro run -n 2 PROGRAM, mpirun, srun",
                "-Dferro.rank, -Dferro.world.size and -Dferro.rendezvous=tcp://HOST:PORT",
                "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT",
                "docs/launchers/README.md");
    }

    @Test
    void aMissingHalfOfTheSettingsIsNamedAsPropertyOrVariable() {
        assertMissing("ferro.world.size", Map.of("ferro.rank", "1"));
        assertMissing("ferro.rank", Map.of("ferro.world.size", "4"));
    }

    private static void assertMissing(String name, Map<String, String> variables) {
        String refusal = refusal(variables);
        assertTrue(refusal.contains(" is set, but ") || refusal.contains(" is only part of what "), refusal);
        assertTrue(refusal.contains(name + " is missing"), refusal);
    }

    private static void assertRefused(Map<String, String> variables, String... parts) {
        String refusal = refusal(variables);
        for (String part : parts) {
            assertTrue(refusal.contains(part), refusal);
        }
    }

    private static RankOfJob job(Map<String, String> variables) {
        return JobFinder.find(variables, HOST).required();
    }

    private static String line(Map<String, String> variables) {
        return JobFinder.find(variables, HOST).line();
    }

    private static String refusal(Map<String, String> variables) {
        return JobFinder.find(variables, HOST).refusal().orElseThrow();
    }

    private static List<Integer> numbers(RankOfJob job) {
        return List.of(
                job.rank(),
                job.worldSize(),
                job.localRank().orElse(-1),
                job.localWorldSize().orElse(-1));
    }
}
