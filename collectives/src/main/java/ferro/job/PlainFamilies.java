package ferro.job;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Families of variables that a person sets, by settings of ferro or by RANK and WORLD_SIZE. Launchers that set the same
 * variables belong to this class too: ferro run, torchrun, pods.
 */
final class PlainFamilies {
    static final String RANK = "RANK";
    static final String WORLD_SIZE = "WORLD_SIZE";
    static final String GIVEN_SIZE = "ferro.world.size";
    static final String GIVEN_SIZE_VARIABLE = "FERRO_WORLD_SIZE";
    static final String LOCAL_RANK = "LOCAL_RANK";
    static final String LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE";

    private static final String GIVEN_RANK = "ferro.rank";
    private static final String GIVEN_RANK_VARIABLE = "FERRO_RANK";
    private static final String RUN_ID = "TORCHELASTIC_RUN_ID";
    private static final String POD_RANKS = "PET_NPROC_PER_NODE";

    private final Variables variables;
    private final Meetings meetings;

    PlainFamilies(Variables variables, Meetings meetings) {
        this.variables = variables;
        this.meetings = meetings;
    }

    /**
     * Returns the candidate of ferro's settings. Either of rank and world size may come from a plain variable instead.
     */
    Optional<LauncherCandidate> given() {
        String rank = variables.has(GIVEN_RANK) ? GIVEN_RANK : GIVEN_RANK_VARIABLE;
        String size = variables.has(GIVEN_SIZE) ? GIVEN_SIZE : GIVEN_SIZE_VARIABLE;
        boolean ofIndex = !variables.has(rank) && variables.has(IndexedPod.INDEX);
        if (!variables.hasAny(rank, size) || ofIndex) {
            return Optional.empty();
        }
        String rankFrom = variables.has(rank) ? rank : RANK;
        String sizeFrom = variables.has(size) ? size : WORLD_SIZE;
        if (!variables.has(rankFrom, sizeFrom)) {
            boolean byProperty = variables.hasAny(GIVEN_RANK, GIVEN_SIZE);
            String missingSize = byProperty ? GIVEN_SIZE : GIVEN_SIZE_VARIABLE;
            String missing = variables.has(rank) ? missingSize : byProperty ? GIVEN_RANK : GIVEN_RANK_VARIABLE;
            return Optional.of(LauncherCandidate.half(
                    LauncherKind.GIVEN,
                    variables,
                    " is set, but " + missing + " is missing: set both, or neither",
                    rank,
                    size));
        }
        return Optional.of(LauncherCandidate.complete(
                LauncherKind.GIVEN, variables, rankFrom, sizeFrom, () -> job(LauncherKind.GIVEN, rankFrom, sizeFrom)));
    }

    /** Returns the candidate of {@code RANK} and {@code WORLD_SIZE}, with the launcher that set them. */
    Optional<LauncherCandidate> plain() {
        if (!variables.hasAny(RANK, WORLD_SIZE)) {
            return Optional.empty();
        }
        LauncherKind family = whose();
        if (!variables.has(RANK, WORLD_SIZE)) {
            return Optional.of(LauncherCandidate.half(
                    family,
                    variables,
                    " is set, but " + variables.missing(RANK, WORLD_SIZE) + " is missing: set both, or neither",
                    RANK,
                    WORLD_SIZE));
        }
        return Optional.of(LauncherCandidate.complete(family, variables, RANK, WORLD_SIZE, () -> plainJob(family)));
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

    private RankOfJob plainJob(LauncherKind family) {
        // "auto" and "gpu" are values for torchrun, which a program that was started directly does not use
        String ranks = variables.find(POD_RANKS).orElse("1");
        boolean several = !ranks.equals("1") && ranks.matches("[1-9][0-9]*");
        if (family == LauncherKind.PYTORCH_JOB && several) {
            throw new IllegalArgumentException(variables.shown(RANK, WORLD_SIZE, POD_RANKS)
                    + ": RANK counts pods, but each pod needs several ranks: start the ranks of a pod by torchrun, or set"
                    + " nprocPerNode to 1");
        }
        return job(family, RANK, WORLD_SIZE);
    }

    private RankOfJob job(LauncherKind family, String rankFrom, String sizeFrom) {
        boolean pod = family == LauncherKind.PYTORCH_JOB || family == LauncherKind.VOLCANO;
        OptionalInt localRank = variables.rankIfAny(LOCAL_RANK, " on this host");
        OptionalInt localSize = variables.numberIfAny(LOCAL_WORLD_SIZE, 1, "a number of ranks from 1");
        int size = variables.size(sizeFrom, "");
        return new RankOfJob(
                family,
                variables.rankBelow(rankFrom, size, sizeFrom, ""),
                size,
                new RankOfJob.RankOnHost(
                        pod && localRank.isEmpty() ? OptionalInt.of(0) : localRank,
                        pod && localSize.isEmpty() ? OptionalInt.of(1) : localSize),
                meetings.named(
                        family == LauncherKind.TORCHRUN ? runId() : Optional.empty(),
                        localSize.isPresent() && localSize.getAsInt() == size));
    }

    /** Returns the name that torchrun gives to all restarts of a job. Without --rdzv-id the name is "none". */
    private Optional<String> runId() {
        return variables.find(RUN_ID).filter(id -> !id.equals("none"));
    }
}
