package ferro.job;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A pod of an Indexed Job of Kubernetes: the index is the rank, and the manifest says how many there are. Its host name ends in the
 * index, and its full name has the service behind it.
 */
final class IndexedPod {
    static final String INDEX = "JOB_COMPLETION_INDEX";

    private static final int PORT = 29500;
    private static final String WAY_OUT =
            "; the manifest sets FERRO_WORLD_SIZE to the number of completions, and Kubernetes"
                    + " JOB_COMPLETION_INDEX where completionMode is Indexed";

    private final Variables variables;
    private final Meetings meetings;
    private final Surroundings around;
    /** The property wins, as everywhere. */
    private final String sizeName;

    IndexedPod(Variables variables, Meetings meetings, Surroundings around) {
        this.variables = variables;
        this.meetings = meetings;
        this.around = around;
        sizeName =
                variables.has(PlainFamilies.GIVEN_SIZE) ? PlainFamilies.GIVEN_SIZE : PlainFamilies.GIVEN_SIZE_VARIABLE;
    }

    Optional<Candidate> find() {
        if (!variables.has(INDEX)) {
            return Optional.empty();
        }
        return Optional.of(
                variables.has(sizeName)
                        ? Candidate.complete(Family.INDEX, variables, INDEX, sizeName, this::job)
                        : Candidate.half(
                                Family.INDEX,
                                variables.shown(INDEX),
                                variables.shown(INDEX)
                                        + " comes without the number of ranks: set FERRO_WORLD_SIZE in the"
                                        + " manifest to the job's completions"));
    }

    private Job job() {
        int size = variables.size(sizeName, WAY_OUT);
        int rank = variables.rankBelow(INDEX, size, sizeName, WAY_OUT);
        // one rank in a pod, which is a host of its own to it
        return new Job(Family.INDEX, rank, size, OptionalInt.of(0), OptionalInt.of(1), meeting(rank, size));
    }

    private Meeting meeting(int rank, int size) {
        String pod = around.hostName().replaceFirst("\\..*", "");
        String end = "-" + rank;
        boolean allLocal = size == 1;
        if (!pod.endsWith(end) || pod.length() == end.length()) {
            return meetings.without(
                    Optional.empty(),
                    allLocal,
                    "rank 0 is looked for as the pod NAME-0.SERVICE, and this host is called \"" + pod + "\", not NAME"
                            + end + ": leave hostname and hostNetwork out of the pod's manifest, or set MASTER_ADDR and"
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
        return "rank 0 is looked for as the pod " + name + "-0.SERVICE, and this pod, " + pod
                + ", has no service in its name (/etc/hosts): set `subdomain: " + name
                + "` in the pod's template and make the service: {apiVersion: v1, kind: Service, metadata: {name: "
                + name
                + "}, spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: "
                + name + "}}}; or set MASTER_ADDR and MASTER_PORT";
    }

    /**
     * JobSet calls pods JOBSET-TEMPLATE-REPLICA-INDEX and counts the index anew in each replica. A pod of replica 0 cannot be
     * refused: it looks the same where there is no other replica, as it should be, and nothing in a pod says how many there are.
     * It ends with the JobSet, which fails as soon as a pod of another replica is refused.
     */
    private void refuseReplicas(String name, String service) {
        String template = name.startsWith(service + "-") ? name.substring(service.length() + 1) : "";
        if (template.matches(".+-[1-9][0-9]*") && !variables.has("MASTER_ADDR")) {
            throw new IllegalArgumentException(variables.shown(INDEX, sizeName) + ": this pod, " + around.hostName()
                    + ", is of replica " + template.substring(template.lastIndexOf('-') + 1) + " of a JobSet, and"
                    + " JOB_COMPLETION_INDEX begins at 0 in each: use replicas: 1 with all ranks as completions, or set"
                    + " FERRO_RANK, MASTER_ADDR and MASTER_PORT");
        }
    }
}
