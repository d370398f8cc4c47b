package ferro.job;

import ferro.job.HostFacts.Ancestor;
import ferro.spi.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The families of variables that are set. This class also reads the job from the variables of a family.
 *
 * <p>Plain variables ({@code ferro.rank}, {@code RANK}) are set by a person, or by ferro run, torchrun and the
 * controllers of pods. mpirun of Open MPI and mpiexec of MPICH and Intel MPI do not name the hosts of the job, but a
 * key distinguishes one mpirun from another mpirun. mpiexec uses the process manager Hydra. {@link SlurmTask} describes
 * Slurm.
 */
final class LauncherDetector {
    /** Programs of Open MPI 4 and 5, MPICH and Intel MPI that start ranks on their host. */
    static final Set<String> OF_MPI = Set.of(
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

    private static final String RANK = "RANK";
    private static final String WORLD_SIZE = "WORLD_SIZE";
    private static final String LOCAL_RANK = "LOCAL_RANK";
    private static final String LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE";
    private static final String GIVEN_RANK = "ferro.rank";
    private static final String GIVEN_SIZE = "ferro.world.size";
    private static final String RUN_ID = "TORCHELASTIC_RUN_ID";
    private static final String POD_RANKS = "PET_NPROC_PER_NODE";
    private static final String PMIX_RANK = "PMIX_RANK";
    private static final String INDEX = "JOB_COMPLETION_INDEX";
    private static final int PORT_OF_PODS = 29500;

    /**
     * Names of variables with rank, size, local rank and local size of a launcher of MPI. {@code PMI_RANK} alone is not
     * a rank, because other process managers number nodes with this variable.
     */
    private static final String[] OPEN_MPI = {
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"
    };

    private static final String[] HYDRA = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

    private static final String BOTH = " is missing: set both, or neither";
    private static final String WAY_OUT_OF_MPI =
            "; start the program by mpirun, or remove these variables from its environment (env -u NAME)";
    private static final String WAY_OUT_OF_PODS =
            "; set FERRO_WORLD_SIZE to the number of completions in the manifest; Kubernetes "
                    + "sets JOB_COMPLETION_INDEX if completionMode is Indexed";

    private final LauncherVariables variables;
    private final HostFacts around;
    private final RendezvousPointFactory meetings;
    private final SlurmTask slurm;

    /**
     * A family of variables, at least one of which is set.
     *
     * @param family     family of the variables
     * @param names      names of the variables that have the rank and the number of ranks
     * @param variables  rank and number of ranks, as {@code NAME=value}
     * @param ranks      rank and number of ranks without names, for a comparison with another family
     * @param incomplete what is missing and a remedy; empty if the family can be chosen
     */
    record LauncherCandidate(
            LauncherKind family, List<String> names, String variables, String ranks, Optional<String> incomplete) {
        boolean isComplete() {
            return incomplete.isEmpty();
        }
    }

    LauncherDetector(LauncherVariables variables, HostFacts around) {
        this.variables = variables;
        this.around = around;
        meetings = new RendezvousPointFactory(variables);
        slurm = new SlurmTask(variables, meetings);
    }

    /** Returns the families whose variables are set, in the order of {@link LauncherKind}. */
    List<LauncherCandidate> found() {
        List<LauncherCandidate> found = new ArrayList<>();
        findGiven(found);
        findPlain(found);
        findMpi(OPEN_MPI, found);
        findMpi(HYDRA, found);
        findSlurm(found);
        findPod(found);
        return found;
    }

    private LauncherCandidate complete(LauncherKind family, String rank, String size) {
        String ranks =
                variables.find(rank).orElse("") + " of " + variables.find(size).orElse("");
        return new LauncherCandidate(family, List.of(rank, size), variables.shown(rank, size), ranks, Optional.empty());
    }

    /** Makes an incomplete candidate. Its text lists the variables that are set, followed by {@code why}. */
    private LauncherCandidate half(LauncherKind family, String why, String... names) {
        String seen = variables.shown(names);
        return new LauncherCandidate(family, List.of(), seen, "", Optional.of(seen + why));
    }

    /** Finds ferro's settings for the rank. A plain variable may give rank or world size in place of a setting. */
    private void findGiven(List<LauncherCandidate> found) {
        String rank = variables.has(GIVEN_RANK) ? GIVEN_RANK : "FERRO_RANK";
        String size = givenSize();
        boolean ofIndex = !variables.has(rank) && variables.has(INDEX);
        if (!variables.hasAny(rank, size) || ofIndex) {
            return;
        }
        String rankFrom = variables.has(rank) ? rank : RANK;
        String sizeFrom = variables.has(size) ? size : WORLD_SIZE;
        if (variables.has(rankFrom, sizeFrom)) {
            found.add(complete(LauncherKind.GIVEN, rankFrom, sizeFrom));
            return;
        }
        boolean byProperty = variables.hasAny(GIVEN_RANK, GIVEN_SIZE);
        String property = variables.has(rank) ? GIVEN_SIZE : GIVEN_RANK;
        String missing = byProperty ? property : Setting.variable(property);
        found.add(half(LauncherKind.GIVEN, " is set, but " + missing + BOTH, rank, size));
    }

    /** Returns the name that gives the number of ranks: the property if it is set, else the variable. */
    private String givenSize() {
        return variables.has(GIVEN_SIZE) ? GIVEN_SIZE : "FERRO_WORLD_SIZE";
    }

    /** Finds {@code RANK} and {@code WORLD_SIZE}, and the launcher that set these variables. */
    private void findPlain(List<LauncherCandidate> found) {
        if (variables.has(RANK, WORLD_SIZE)) {
            found.add(complete(whose(), RANK, WORLD_SIZE));
        } else if (variables.hasAny(RANK, WORLD_SIZE)) {
            String why = " is set, but " + variables.missing(RANK, WORLD_SIZE) + BOTH;
            found.add(half(whose(), why, RANK, WORLD_SIZE));
        }
    }

    private LauncherKind whose() {
        if (variables.find("FERRO_STORE_SERVED").orElse("").equals("1")) {
            return LauncherKind.FERRO_RUN;
        }
        if (variables.hasAny(RUN_ID, "TORCHELASTIC_USE_AGENT_STORE") || variables.has(LOCAL_RANK, LOCAL_WORLD_SIZE)) {
            return LauncherKind.TORCHRUN;
        }
        if (variables.hasAny("VC_TASK_INDEX", "VK_TASK_INDEX")) {
            return LauncherKind.VOLCANO;
        }
        return variables.hasAny("PET_NNODES", "PET_NODE_RANK", POD_RANKS)
                ? LauncherKind.PYTORCH_JOB
                : LauncherKind.BARE;
    }

    private void findMpi(String[] names, List<LauncherCandidate> found) {
        if (variables.has(names)) {
            found.add(complete(kind(names), names[0], names[1]));
        } else if (variables.hasAny(names[0], names[1])) {
            String why = " is only part of what " + kind(names).title() + " sets for a rank: "
                    + variables.missing(names) + " is missing" + WAY_OUT_OF_MPI;
            found.add(half(kind(names), why, names));
        } else if (names == OPEN_MPI && variables.has(PMIX_RANK)) {
            found.add(half(
                    kind(names),
                    " is set without a number of ranks: start the program by mpirun of"
                            + " Open MPI, which sets OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE, or by srun",
                    PMIX_RANK));
        }
    }

    private void findSlurm(List<LauncherCandidate> found) {
        String[] names = {SlurmTask.JOB, SlurmTask.RANK, SlurmTask.SIZE};
        if (!variables.hasAny(names)) {
            return;
        }
        if (slurm.isShell()) {
            String why = " is the shell of an interactive Slurm allocation, not a task of a step";
            found.add(half(LauncherKind.SLURM, why + SlurmTask.START, SlurmTask.STEP));
        } else if (variables.has(SlurmTask.RANK, SlurmTask.SIZE)) {
            found.add(complete(LauncherKind.SLURM, SlurmTask.RANK, SlurmTask.SIZE));
        } else {
            String why = " belongs to a Slurm allocation, not to a task of a step: "
                    + variables.missing(SlurmTask.RANK, SlurmTask.SIZE) + " is missing";
            found.add(half(LauncherKind.SLURM, why + SlurmTask.START, names));
        }
    }

    private void findPod(List<LauncherCandidate> found) {
        if (variables.has(INDEX, givenSize())) {
            found.add(complete(LauncherKind.INDEX, INDEX, givenSize()));
        } else if (variables.has(INDEX)) {
            String why = " is set without the number of ranks: set FERRO_WORLD_SIZE in the manifest "
                    + "to the job's completions";
            found.add(half(LauncherKind.INDEX, why, INDEX));
        }
    }

    /**
     * Reads all variables of a complete family.
     *
     * @throws IllegalArgumentException if a variable is invalid
     */
    RankOfJob job(LauncherCandidate chosen) {
        return switch (chosen.family()) {
            case OPEN_MPI -> mpiJob(OPEN_MPI);
            case HYDRA -> mpiJob(HYDRA);
            case SLURM -> slurm.job();
            case INDEX -> podJob();
            default ->
                plainJob(chosen.family(), chosen.names().get(0), chosen.names().get(1));
        };
    }

    private RankOfJob plainJob(LauncherKind family, String rankFrom, String sizeFrom) {
        // "auto" and "gpu" are values for torchrun, which a program that was started directly does not use
        String ranks = variables.find(POD_RANKS).orElse("1");
        boolean several = !ranks.equals("1") && ranks.matches("[1-9][0-9]*");
        if (family == LauncherKind.PYTORCH_JOB && several) {
            throw new IllegalArgumentException(variables.shown(RANK, WORLD_SIZE, POD_RANKS)
                    + ": RANK counts pods, but each pod needs several ranks: start the ranks of a pod by torchrun, or set"
                    + " nprocPerNode to 1");
        }
        boolean pod = family == LauncherKind.PYTORCH_JOB || family == LauncherKind.VOLCANO;
        OptionalInt localRank = variables.rankIfAny(LOCAL_RANK, " on this host");
        OptionalInt localSize = variables.numberIfAny(LOCAL_WORLD_SIZE, 1, "a number of ranks from 1");
        int size = variables.size(sizeFrom, "");
        return new RankOfJob(
                family,
                variables.rankBelow(rankFrom, size, sizeFrom, ""),
                size,
                new RankOfJob.HostRank(
                        pod && localRank.isEmpty() ? OptionalInt.of(0) : localRank,
                        pod && localSize.isEmpty() ? OptionalInt.of(1) : localSize),
                meetings.named(
                        family == LauncherKind.TORCHRUN ? runId() : Optional.empty(),
                        localSize.isPresent() && localSize.getAsInt() == size));
    }

    /** Returns the name that torchrun gives to all restarts of a job. Without --rdzv-id, the name is "none". */
    private Optional<String> runId() {
        return variables.find(RUN_ID).filter(id -> !id.equals("none"));
    }

    private static LauncherKind kind(String[] names) {
        return names == OPEN_MPI ? LauncherKind.OPEN_MPI : LauncherKind.HYDRA;
    }

    private RankOfJob mpiJob(String[] names) {
        int size = variables.size(names[1], WAY_OUT_OF_MPI);
        int localSize = variables.size(names[3], WAY_OUT_OF_MPI);
        boolean allLocal = localSize == size;
        Optional<String> key = names == OPEN_MPI ? openMpiKey(allLocal) : hydraKey(allLocal);
        return new RankOfJob(
                kind(names),
                variables.rankBelow(names[0], size, names[1], WAY_OUT_OF_MPI),
                size,
                new RankOfJob.HostRank(
                        OptionalInt.of(variables.rankBelow(names[2], localSize, names[3], WAY_OUT_OF_MPI)),
                        OptionalInt.of(localSize)),
                meetings.named(key, allLocal));
    }

    /**
     * Returns the key of an Open MPI job. The namespace of Open MPI consists of host and process number, which may
     * repeat. Open MPI also draws a random number for each mpirun, so that network drivers can distinguish jobs. The
     * random number does not repeat.
     */
    private Optional<String> openMpiKey(boolean allLocal) {
        String namespace = variables
                .find("PMIX_NAMESPACE")
                .or(() -> variables.find("OMPI_MCA_ess_base_jobid"))
                .orElse("");
        Optional<String> drawn = variables.find("OMPI_MCA_orte_precondition_transports");
        if (drawn.isPresent()) {
            return Optional.of(RendezvousPointFactory.hashed("ompi", namespace + " " + drawn.get()));
        }
        Optional<String> launcher = allLocal ? launcher().map(this::identity) : Optional.empty();
        if (launcher.isPresent()) {
            return launcher.map(one -> RendezvousPointFactory.hashed("ompi", namespace + " " + one));
        }
        return namespace.isEmpty() ? Optional.empty() : Optional.of(RendezvousPointFactory.hashed("ompi", namespace));
    }

    /**
     * Returns the key of a Hydra job. Hydra gives its ranks no unique value, but the proxies of all hosts get the
     * address on which mpiexec listens.
     */
    private Optional<String> hydraKey(boolean allLocal) {
        Optional<Ancestor> proxy = launcher();
        return proxy.flatMap(LauncherDetector::controlPort)
                .or(() -> allLocal ? proxy.map(this::identity) : Optional.empty())
                .map(what -> allLocal ? what + " " + identity(proxy.get()) : what)
                .map(what -> RendezvousPointFactory.hashed("hydra", what));
    }

    private Optional<Ancestor> launcher() {
        return around.ancestors().stream()
                .filter(process -> OF_MPI.contains(process.name()))
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

    /**
     * Returns the job of a pod of an Indexed Job. The pod has one rank, which is the index of the pod, and is a
     * separate host.
     */
    private RankOfJob podJob() {
        int size = variables.size(givenSize(), WAY_OUT_OF_PODS);
        int rank = variables.rankBelow(INDEX, size, givenSize(), WAY_OUT_OF_PODS);
        return new RankOfJob(
                LauncherKind.INDEX,
                rank,
                size,
                new RankOfJob.HostRank(OptionalInt.of(0), OptionalInt.of(1)),
                podMeeting("-" + rank, size == 1));
    }

    /**
     * Returns the rendezvous point of the pods. The host name of a pod ends with the index of the pod. In the full host
     * name, the name of the service follows the name of the pod.
     */
    private RendezvousPoint podMeeting(String end, boolean allLocal) {
        String pod = around.hostName().replaceFirst("\\..*", "");
        if (!pod.endsWith(end) || pod.length() == end.length()) {
            return meetings.without(
                    Optional.empty(),
                    allLocal,
                    "ranks find rank 0 by the pod name NAME-0.SERVICE, but this host is called \"" + pod
                            + "\", not NAME"
                            + end + ": remove hostname and hostNetwork from the pod's manifest, or set MASTER_ADDR and"
                            + " MASTER_PORT");
        }
        String name = pod.substring(0, pod.length() - end.length());
        Optional<String> service = around.fullHostName()
                .map(full -> full.split("\\."))
                .filter(labels -> labels.length > 1)
                .map(labels -> labels[1]);
        if (service.isEmpty()) {
            return meetings.without(Optional.of(name), allLocal, noService(pod, name));
        }
        refuseReplicas(name, service.get());
        return meetings.at(
                Optional.of(name), allLocal, Optional.of(name + "-0." + service.get()), OptionalInt.of(PORT_OF_PODS));
    }

    private static String noService(String pod, String name) {
        return "ranks find rank 0 by the pod name " + name + "-0.SERVICE, but this pod, " + pod
                + ", has no service in its host name (/etc/hosts): set `subdomain: " + name
                + "` in the pod's template and create the service: {apiVersion: v1, kind: Service, metadata: {name: "
                + name
                + "}, spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: "
                + name + "}}}; or set MASTER_ADDR and MASTER_PORT";
    }

    /**
     * Refuses a pod of a replica other than 0. JobSet names pods JOBSET-TEMPLATE-REPLICA-INDEX and starts the index at
     * 0 in each replica. A pod of replica 0 is not refused, because a pod cannot find the number of replicas, and one
     * replica is the correct case. If a JobSet has more replicas, the pods of replicas other than 0 are refused, the
     * JobSet fails, and the pods of replica 0 end with the JobSet.
     */
    private void refuseReplicas(String name, String service) {
        String template = name.startsWith(service + "-") ? name.substring(service.length() + 1) : "";
        if (template.matches(".+-[1-9][0-9]*") && !variables.has("MASTER_ADDR")) {
            throw new IllegalArgumentException(variables.shown(INDEX, givenSize()) + ": this pod, " + around.hostName()
                    + ", belongs to replica " + template.substring(template.lastIndexOf('-') + 1) + " of a JobSet, and"
                    + " JOB_COMPLETION_INDEX begins at 0 in each replica: use replicas: 1 with all ranks as completions, or set"
                    + " FERRO_RANK, MASTER_ADDR and MASTER_PORT");
        }
    }
}
