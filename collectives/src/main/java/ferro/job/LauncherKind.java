package ferro.job;

/**
 * Families of variables that give a process its rank. The constants are in order of preference. A launcher closer to
 * the program comes first, because launchers pass the variables of outer launchers to their programs.
 */
public enum LauncherKind {
    /** {@code ferro.rank} and {@code ferro.world.size}, by property or by variable. */
    GIVEN("ferro.rank and ferro.world.size", false),
    /** {@code ./ferro run}. */
    FERRO_RUN("ferro run", false),
    /**
     * torchrun, or any launcher that sets {@code LOCAL_RANK} and {@code LOCAL_WORLD_SIZE} beside {@code RANK} and
     * {@code WORLD_SIZE}.
     */
    TORCHRUN("torchrun", false),
    /** A pod of Kubeflow's PyTorchJob, which numbers pods, not ranks. */
    PYTORCH_JOB("PyTorchJob", true),
    /** A pod of Volcano with its pytorch plugin, which numbers pods, not ranks. */
    VOLCANO("Volcano", true),
    /** {@code RANK} and {@code WORLD_SIZE} without other variables, set by hand or by a script. */
    BARE("RANK and WORLD_SIZE", false),
    /** mpirun of Open MPI. */
    OPEN_MPI("Open MPI", true),
    /** mpiexec of MPICH, Intel MPI and other libraries whose process manager is Hydra. */
    HYDRA("Hydra", true),
    /** srun. */
    SLURM("Slurm", true),
    /** A pod of an Indexed Job of Kubernetes. */
    INDEX("the Indexed Job", true);

    private final String title;
    private final boolean ofACluster;

    LauncherKind(String title, boolean ofACluster) {
        this.title = title;
        this.ofACluster = ofACluster;
    }

    /** {@return the name for messages, for example {@code Open MPI}} */
    public String title() {
        return title;
    }

    /**
     * {@return whether a cluster starts the ranks, so that ranks may start minutes apart; false if a person, a script,
     * ferro run or torchrun starts the ranks}
     */
    public boolean ofACluster() {
        return ofACluster;
    }
}
