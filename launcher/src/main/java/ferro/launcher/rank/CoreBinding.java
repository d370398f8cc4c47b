package ferro.launcher.rank;

import ferro.launcher.program.ProgramFinder;
import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The cores on which each rank of this host runs.
 *
 * <p>If two ranks that spin share one core, a call takes milliseconds instead of microseconds. Two bound ranks never
 * share a core. Each rank gets an equal slice of the cores. Therefore a single rank keeps all cores.
 *
 * @param slices cores of each rank in the form of taskset; empty if ranks are not bound
 * @param reason why ranks are bound or not bound, for a line that is printed at the start
 */
public record CoreBinding(List<String> slices, String reason) {
    /**
     * The cores to distribute.
     *
     * @param cores   number of cores that the JVM may use, as the JVM reports it
     * @param allowed numbers of the cores that this process may run on; empty if unknown
     * @param sharing number of launchers that share the cores of the machine
     */
    public record UsableCores(int cores, List<Integer> allowed, int sharing) {
        /** Creates the cores of a single launcher. */
        public UsableCores(int cores, List<Integer> allowed) {
            this(cores, allowed, 1);
        }

        /** Returns the cores of this machine that this process may use. */
        public static UsableCores ofThisMachine() {
            List<Integer> allowed =
                    LinuxFiles.HOST.allowedCores().stream().boxed().toList();
            return new UsableCores(Runtime.getRuntime().availableProcessors(), allowed);
        }

        /** Returns a name that no other set of cores has, on this or another machine; empty if unknown. */
        public String name() {
            try {
                return allowed.isEmpty() ? "" : LinuxFiles.HOST.boot() + " " + allowed;
            } catch (IOException noProc) {
                return "";
            }
        }

        /**
         * Returns the part of the cores for one launcher.
         *
         * @param index number of the launcher among the launchers that share these cores
         * @param of    number of launchers that share these cores
         */
        public UsableCores part(int index, int of) {
            if (of == 1) {
                return this;
            }
            int each = allowed.size() / of;
            return new UsableCores(Math.min(cores, each), allowed.subList(index * each, (index + 1) * each), of);
        }
    }

    /** Decides which cores each rank gets. If ranks are not bound, the returned object has the reason. */
    public static CoreBinding of(int ranks, boolean wanted, ProgramFinder programs, UsableCores machine) {
        if (!wanted) {
            return unbound("--no-bind");
        }
        if (ranks == 1) {
            return unbound("only one rank");
        }
        if (ranks > machine.cores()) {
            return unbound(
                    machine.sharing() == 1
                            ? "ranks > cores"
                            : "ranks of " + machine.sharing() + " nodes on this machine > cores");
        }
        if (programs.find("taskset").isEmpty() || machine.allowed().size() < ranks) {
            return unbound("no taskset on this machine");
        }
        int each = machine.allowed().size() / ranks;
        return new CoreBinding(
                slices(ranks, machine.allowed()), "bound to " + (each == 1 ? "a core" : each + " cores") + " each");
    }

    private static CoreBinding unbound(String why) {
        return new CoreBinding(List.of(), "not bound (" + why + ")");
    }

    /** Returns the command line that runs a command on the cores of the rank with the given number on this host. */
    public List<String> wrap(int localRank, List<String> command) {
        if (slices.isEmpty()) {
            return command;
        }
        List<String> line = new ArrayList<>(List.of("taskset", "-c", slices.get(localRank)));
        line.addAll(command);
        return line;
    }

    private static List<String> slices(int ranks, List<Integer> allowed) {
        int each = allowed.size() / ranks;
        return IntStream.range(0, ranks)
                .mapToObj(rank -> allowed.subList(rank * each, (rank + 1) * each).stream()
                        .map(String::valueOf)
                        .collect(Collectors.joining(",")))
                .toList();
    }

    /**
     * Returns a warning if launcher and ranks may use only some cores of the node, because srun and mpirun give a task
     * one core by default. Returns empty if each rank has a core, or if launcher and ranks may use all cores of the
     * node.
     */
    public static Optional<String> warning(int ranks, Map<String, String> environment) {
        try {
            int node = LinuxFiles.HOST.onlineCores().cardinality();
            return warning(ranks, UsableCores.ofThisMachine().allowed().size(), node, environment);
        } catch (IOException | NumberFormatException unknown) {
            return Optional.empty();
        }
    }

    /**
     * Returns the warning of {@link #warning(int, Map)} for given numbers of cores.
     *
     * @param allowed number of cores that this process may use; 0 if unknown
     * @param node    number of cores of the host
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
