package ferro.launcher.rank;

import ferro.spi.Proc;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/** Warns if launcher and ranks may use only some cores of the node: srun and mpirun give a task one core by default. */
public final class FewCores {
    private FewCores() {}

    /** Returns a warning for this process; empty if each rank has a core, or if all cores of the node may be used. */
    public static Optional<String> warning(int ranks, Map<String, String> environment) {
        try {
            int node = Proc.HOST.onlineCores().cardinality();
            return warning(ranks, CoreBinding.Cores.ofThisMachine().allowed().size(), node, environment);
        } catch (IOException | NumberFormatException unknown) {
            return Optional.empty();
        }
    }

    /**
     * Returns a warning for given numbers of cores.
     *
     * @param allowed cores that this process may use, 0 if unknown
     * @param node    cores of the host
     */
    public static Optional<String> warning(int ranks, int allowed, int node, Map<String, String> environment) {
        if (allowed == 0 || allowed >= ranks || allowed >= node) {
            return Optional.empty();
        }
        return Optional.of("only " + (allowed == 1 ? "1 core" : allowed + " cores") + " of this node's " + node
                + " may be used for " + ranks + " ranks, so ranks must take turns: "
                + wayOut(Math.min(ranks, node), environment));
    }

    private static String wayOut(int cores, Map<String, String> environment) {
        if (environment.containsKey("OMPI_COMM_WORLD_RANK")) {
            return "mpirun --bind-to none lifts the binding";
        }
        if (environment.containsKey("MPI_LOCALRANKID")) {
            return "mpiexec -bind-to none lifts the binding";
        }
        return environment.containsKey("SLURM_STEP_NUM_TASKS")
                ? "srun --cpus-per-task=" + cores
                        + " asks for more, --cpu-bind=none lifts the binding to the job's cores"
                : "taskset, a container or a batch system sets this limit";
    }
}
