package ferro.job;

import ferro.job.HostFacts.Ancestor;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The variables of mpirun of Open MPI, and of mpiexec of MPICH and Intel MPI, which use the process manager Hydra.
 * Neither family names the hosts of the job, but a key distinguishes one mpirun from another.
 */
final class MpiFamilies {
    /** Programs that start ranks on their host, for Open MPI 4 and 5, MPICH and Intel MPI. */
    static final Set<String> LAUNCHERS = Set.of(
            "mpirun",
            "mpirun.openmpi",
            "mpiexec",
            "mpiexec.openmpi",
            "orterun",
            "orted",
            "prterun",
            "prted",
            "prte",
            "hydra_pmi_proxy",
            "hydra_bstrap_proxy");

    private static final String OMPI_RANK = "OMPI_COMM_WORLD_RANK";
    private static final String OMPI_SIZE = "OMPI_COMM_WORLD_SIZE";
    private static final String OMPI_LOCAL_RANK = "OMPI_COMM_WORLD_LOCAL_RANK";
    private static final String OMPI_LOCAL_SIZE = "OMPI_COMM_WORLD_LOCAL_SIZE";
    /** A random number that Open MPI chooses for each mpirun, so that network drivers can distinguish jobs. */
    private static final String OMPI_DRAWN = "OMPI_MCA_orte_precondition_transports";

    private static final String NAMESPACE = "PMIX_NAMESPACE";
    private static final String PMIX_RANK = "PMIX_RANK";

    private static final String PMI_RANK = "PMI_RANK";
    private static final String PMI_SIZE = "PMI_SIZE";
    private static final String HYDRA_LOCAL_RANK = "MPI_LOCALRANKID";
    private static final String HYDRA_LOCAL_SIZE = "MPI_LOCALNRANKS";

    private static final String WAY_OUT =
            "; start the program by mpirun, or remove these variables from its environment (env -u NAME)";

    private final Variables variables;
    private final Meetings meetings;
    private final HostFacts around;

    MpiFamilies(Variables variables, Meetings meetings, HostFacts around) {
        this.variables = variables;
        this.meetings = meetings;
        this.around = around;
    }

    Optional<LauncherCandidate> openMpi() {
        String[] all = {OMPI_RANK, OMPI_SIZE, OMPI_LOCAL_RANK, OMPI_LOCAL_SIZE};
        if (variables.has(all)) {
            return Optional.of(LauncherCandidate.complete(
                    LauncherKind.OPEN_MPI, variables, OMPI_RANK, OMPI_SIZE, this::openMpiJob));
        }
        if (variables.hasAny(OMPI_RANK, OMPI_SIZE)) {
            return Optional.of(half(LauncherKind.OPEN_MPI, all));
        }
        return variables.has(PMIX_RANK)
                ? Optional.of(LauncherCandidate.half(
                        LauncherKind.OPEN_MPI,
                        variables,
                        " is set without a number of ranks: start the program by mpirun of"
                                + " Open MPI, which sets OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE, or by srun",
                        PMIX_RANK))
                : Optional.empty();
    }

    /**
     * Returns the candidate of Hydra. {@code PMI_RANK} alone is no rank, because other process managers number nodes
     * with it.
     */
    Optional<LauncherCandidate> hydra() {
        String[] all = {PMI_RANK, PMI_SIZE, HYDRA_LOCAL_RANK, HYDRA_LOCAL_SIZE};
        if (variables.has(all)) {
            return Optional.of(
                    LauncherCandidate.complete(LauncherKind.HYDRA, variables, PMI_RANK, PMI_SIZE, this::hydraJob));
        }
        return variables.hasAny(PMI_RANK, PMI_SIZE) ? Optional.of(half(LauncherKind.HYDRA, all)) : Optional.empty();
    }

    private LauncherCandidate half(LauncherKind family, String... names) {
        return LauncherCandidate.half(
                family,
                variables,
                " is only part of what " + family.title() + " sets for a rank: " + variables.missing(names)
                        + " is missing" + WAY_OUT,
                names);
    }

    private RankOfJob openMpiJob() {
        return job(LauncherKind.OPEN_MPI, List.of(OMPI_RANK, OMPI_SIZE, OMPI_LOCAL_RANK, OMPI_LOCAL_SIZE));
    }

    private RankOfJob hydraJob() {
        return job(LauncherKind.HYDRA, List.of(PMI_RANK, PMI_SIZE, HYDRA_LOCAL_RANK, HYDRA_LOCAL_SIZE));
    }

    private RankOfJob job(LauncherKind family, List<String> names) {
        int size = variables.size(names.get(1), WAY_OUT);
        int localSize = variables.size(names.get(3), WAY_OUT);
        boolean allLocal = localSize == size;
        Optional<String> key = family == LauncherKind.OPEN_MPI ? openMpiKey(allLocal) : hydraKey(allLocal);
        return new RankOfJob(
                family,
                variables.rankBelow(names.get(0), size, names.get(1), WAY_OUT),
                size,
                new RankOfJob.RankOnHost(
                        OptionalInt.of(variables.rankBelow(names.get(2), localSize, names.get(3), WAY_OUT)),
                        OptionalInt.of(localSize)),
                meetings.at(key, allLocal, Optional.empty(), OptionalInt.empty()));
    }

    /**
     * Returns the key of an Open MPI job. The namespace consists of host and process number, which may repeat; the
     * random number does not repeat.
     */
    private Optional<String> openMpiKey(boolean allLocal) {
        String namespace = variables
                .find(NAMESPACE)
                .or(() -> variables.find("OMPI_MCA_ess_base_jobid"))
                .orElse("");
        Optional<String> drawn = variables.find(OMPI_DRAWN);
        if (drawn.isPresent()) {
            return Optional.of(Meetings.hashed("ompi", namespace + " " + drawn.get()));
        }
        Optional<String> launcher = allLocal ? launcher().map(this::identity) : Optional.empty();
        if (launcher.isPresent()) {
            return launcher.map(one -> Meetings.hashed("ompi", namespace + " " + one));
        }
        return namespace.isEmpty() ? Optional.empty() : Optional.of(Meetings.hashed("ompi", namespace));
    }

    /**
     * Returns the key of a Hydra job. Hydra gives its ranks no unique value, but the proxies of all hosts get the address
     * on which mpiexec listens.
     */
    private Optional<String> hydraKey(boolean allLocal) {
        Optional<Ancestor> proxy = launcher();
        return proxy.flatMap(MpiFamilies::controlPort)
                .or(() -> allLocal ? proxy.map(this::identity) : Optional.empty())
                .map(what -> allLocal ? what + " " + identity(proxy.get()) : what)
                .map(what -> Meetings.hashed("hydra", what));
    }

    private Optional<Ancestor> launcher() {
        return around.ancestors().stream()
                .filter(process -> LAUNCHERS.contains(process.name()))
                .findFirst();
    }

    private String identity(Ancestor process) {
        return around.hostName() + " " + process.pid() + " " + process.startTicks();
    }

    private static Optional<String> controlPort(Ancestor proxy) {
        Optional<String> one = option(proxy.command(), "--control-port");
        Optional<String> host = option(proxy.command(), "--upstream-host");
        Optional<String> port = option(proxy.command(), "--upstream-port");
        return one.or(() -> host.flatMap(name -> port.map(number -> name + ":" + number)));
    }

    private static Optional<String> option(List<String> command, String name) {
        int at = command.indexOf(name);
        return at >= 0 && at + 1 < command.size() ? Optional.of(command.get(at + 1)) : Optional.empty();
    }
}
