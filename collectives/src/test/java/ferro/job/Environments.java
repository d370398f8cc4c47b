package ferro.job;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Environments as launchers make them; those of the two MPIs are what mpirun of Debian 12 sets, less what nobody reads. */
final class Environments {
    private Environments() {}

    static Map<String, String> with(Map<String, String> one, Map<String, String> other) {
        Map<String, String> all = new HashMap<>(one);
        all.putAll(other);
        return all;
    }

    static Map<String, String> without(Map<String, String> all, String... names) {
        Map<String, String> rest = new HashMap<>(all);
        List.of(names).forEach(rest::remove);
        return rest;
    }

    /** Rank 1 of 4, the first of two on the second host. */
    static Map<String, String> openMpi() {
        return Map.of(
                "OMPI_COMM_WORLD_RANK", "1",
                "OMPI_COMM_WORLD_SIZE", "4",
                "OMPI_COMM_WORLD_LOCAL_RANK", "0",
                "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                "OMPI_MCA_orte_precondition_transports", "c7f0380da12711a0-357ed4d3c5de319f",
                "PMIX_NAMESPACE", "1274281985",
                "PMIX_RANK", "1");
    }

    /** Rank 1 of 4, the first of two on the second host. */
    static Map<String, String> hydra() {
        return Map.of(
                "PMI_RANK", "1",
                "PMI_SIZE", "4",
                "PMI_FD", "8",
                "MPI_LOCALRANKID", "0",
                "MPI_LOCALNRANKS", "2");
    }

    /** Task 5 of 11, on the second of three nodes, as srun makes it. */
    static Map<String, String> slurmStep() {
        return with(
                slurmShell(),
                Map.of(
                        "SLURM_PROCID", "5",
                        "SLURM_LOCALID", "1",
                        "SLURM_NODEID", "1",
                        "SLURM_STEP_ID", "3",
                        "SLURM_STEP_NUM_TASKS", "11",
                        "SLURM_STEP_TASKS_PER_NODE", "4(x2),3",
                        "SLURM_STEP_NODELIST", "node[07,09-10]"));
    }

    /** The shell of sbatch, in which nothing has been started by srun. */
    static Map<String, String> slurmShell() {
        return Map.of(
                "SLURM_JOB_ID", "4711",
                "SLURM_PROCID", "0",
                "SLURM_LOCALID", "0",
                "SLURM_NODEID", "0",
                "SLURM_NTASKS", "11",
                "SLURM_TASKS_PER_NODE", "4(x2),3",
                "SLURM_JOB_NODELIST", "node[07,09-10]");
    }

    /** Rank 3 of 4, the second on its host. */
    static Map<String, String> torchrun() {
        return Map.of(
                "RANK", "3",
                "WORLD_SIZE", "4",
                "LOCAL_RANK", "1",
                "LOCAL_WORLD_SIZE", "2",
                "MASTER_ADDR", "10.0.0.1",
                "MASTER_PORT", "29500",
                "TORCHELASTIC_RUN_ID", "none",
                "TORCHELASTIC_USE_AGENT_STORE", "True");
    }

    static Map<String, String> pod() {
        return Map.of("JOB_COMPLETION_INDEX", "2", "FERRO_WORLD_SIZE", "4");
    }

    /** A pod whose kubelet has written that name to /etc/hosts; null for one that has none. */
    static HostFacts podNamed(String hostName, String fullName) {
        return new FixedFacts(hostName, Optional.ofNullable(fullName), List.of());
    }

    /** A host on which these processes have started this one. */
    static HostFacts under(HostFacts.Ancestor... ancestors) {
        return new FixedFacts("alpha", Optional.empty(), List.of(ancestors));
    }

    private record FixedFacts(String hostName, Optional<String> fullHostName, List<Ancestor> ancestors)
            implements HostFacts {}
}
