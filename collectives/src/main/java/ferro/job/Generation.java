package ferro.job;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The generation of a job: how often its ranks have been started again. The first start has generation 0.
 *
 * @param variables may contain {@code FERRO_GENERATION}, or the variable in which a launcher counts restarts
 */
record Generation(Variables variables) {
    private static final String NAME = "FERRO_GENERATION";
    private static final String NEED = "a number of restarts from 0";
    private static final String UNNAMED = "default";
    private static final int MAX_ID_BYTES = 64;

    /**
     * Returns a job with its generation. The generation is part of the job id, so that ranks of an earlier start are
     * refused.
     *
     * @throws IllegalArgumentException if the variable of the generation is not a number from 0
     */
    RankOfJob of(RankOfJob job) {
        OptionalInt found = variables.numberIfAny(variable(job.family()), 0, NEED);
        RendezvousPoint point = job.rendezvous();
        Optional<String> given = variables.find(Meetings.JOB_ID);
        Optional<String> id = given.isPresent() ? given : point.key();
        if (found.isEmpty() || !isPartOfId(job)) {
            return job.started(found.orElse(0), id, point);
        }
        String end = "." + found.getAsInt();
        return job.started(
                found.getAsInt(),
                Optional.of(numbered(id.orElse(UNNAMED), end)),
                point.withKey(point.key().map(key -> numbered(key, end))));
    }

    /**
     * Returns the variable that counts restarts. The variables of outer launchers are ignored, because they may differ
     * between the ranks. A manifest sets {@code JOBSET_RESTART_ATTEMPT}, so all pods have it.
     */
    private String variable(LauncherKind family) {
        if (variables.has(NAME)) {
            return NAME;
        }
        return switch (family) {
            case TORCHRUN -> "TORCHELASTIC_RESTART_COUNT";
            case SLURM -> SlurmStep.RESTART;
            case FERRO_RUN, OPEN_MPI, HYDRA -> NAME;
            default -> "JOBSET_RESTART_ATTEMPT";
        };
    }

    /**
     * Returns whether all ranks have the same generation, and no launcher has chosen the job id. Each agent of torchrun
     * counts its own restarts, so the numbers of several nodes may differ.
     */
    private boolean isPartOfId(RankOfJob job) {
        boolean isServed = variables.find("FERRO_STORE_SERVED").orElse("").equals("1");
        boolean isPerNode = job.family() == LauncherKind.TORCHRUN && !variables.has(NAME);
        return !isServed && (!isPerNode || job.rendezvous().allLocal());
    }

    private static String numbered(String id, String end) {
        String numbered = id.endsWith(end) ? id : id + end;
        return numbered.getBytes(StandardCharsets.UTF_8).length > MAX_ID_BYTES
                ? Meetings.hashed("job", numbered)
                : numbered;
    }
}
