package ferro.job;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A pod of an Indexed Job of Kubernetes. The index is the rank, and the manifest sets the number of ranks. The host
 * name of the pod ends with the index. In the full host name, the name of the service follows the name of the pod.
 */
final class IndexedPod {
    static final String INDEX = "JOB_COMPLETION_INDEX";

    private static final int PORT = 29500;
    private static final String WAY_OUT =
            "; set FERRO_WORLD_SIZE to the number of completions in the manifest; Kubernetes "
                    + "sets JOB_COMPLETION_INDEX if completionMode is Indexed";

    private final Variables variables;
    private final Meetings meetings;
    private final HostFacts around;
    /** The name that gives the number of ranks: the property if it is set, else the variable. */
    private final String sizeName;

    IndexedPod(Variables variables, Meetings meetings, HostFacts around) {
        this.variables = variables;
        this.meetings = meetings;
        this.around = around;
        sizeName =
                variables.has(PlainFamilies.GIVEN_SIZE) ? PlainFamilies.GIVEN_SIZE : PlainFamilies.GIVEN_SIZE_VARIABLE;
    }

    Optional<LauncherCandidate> find() {
        if (!variables.has(INDEX)) {
            return Optional.empty();
        }
        return Optional.of(
                variables.has(sizeName)
                        ? LauncherCandidate.complete(LauncherKind.INDEX, variables, INDEX, sizeName, this::job)
                        : LauncherCandidate.half(
                                LauncherKind.INDEX,
                                variables,
                                " is set without the number of ranks: set FERRO_WORLD_SIZE in the manifest "
                                        + "to the job's completions",
                                INDEX));
    }

    private RankOfJob job() {
        int size = variables.size(sizeName, WAY_OUT);
        int rank = variables.rankBelow(INDEX, size, sizeName, WAY_OUT);
        // a pod has one rank and counts as a separate host
        return new RankOfJob(
                LauncherKind.INDEX,
                rank,
                size,
                new RankOfJob.RankOnHost(OptionalInt.of(0), OptionalInt.of(1)),
                meeting(rank, size));
    }

    private RendezvousPoint meeting(int rank, int size) {
        String pod = around.hostName().replaceFirst("\\..*", "");
        String end = "-" + rank;
        boolean allLocal = size == 1;
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
                Optional.of(name), allLocal, Optional.of(name + "-0." + service.get()), OptionalInt.of(PORT));
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
     * 0 in each replica. A pod of replica 0 is not refused, because a pod does not know the number of replicas, and one
     * replica is the correct case. If there are more replicas, their pods are refused, the JobSet fails, and the pods
     * of replica 0 end with it.
     */
    private void refuseReplicas(String name, String service) {
        String template = name.startsWith(service + "-") ? name.substring(service.length() + 1) : "";
        if (template.matches(".+-[1-9][0-9]*") && !variables.has("MASTER_ADDR")) {
            throw new IllegalArgumentException(variables.shown(INDEX, sizeName) + ": this pod, " + around.hostName()
                    + ", belongs to replica " + template.substring(template.lastIndexOf('-') + 1) + " of a JobSet, and"
                    + " JOB_COMPLETION_INDEX begins at 0 in each replica: use replicas: 1 with all ranks as completions, or set"
                    + " FERRO_RANK, MASTER_ADDR and MASTER_PORT");
        }
    }
}
