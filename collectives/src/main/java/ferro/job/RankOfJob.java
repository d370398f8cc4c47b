package ferro.job;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** The rank of this process in its job, from the variables of one launcher. */
public final class RankOfJob {
    private final LauncherKind family;
    private final int rank;
    private final int worldSize;
    private final HostRank local;
    private final JobStart start;

    /** The rank on the host and the number of ranks on the host; each is empty if the launcher does not give it. */
    record HostRank(OptionalInt rank, OptionalInt worldSize) {}

    /** The start of the job that this process belongs to. */
    private record JobStart(int generation, Optional<String> jobId, RendezvousPoint rendezvous) {}

    RankOfJob(LauncherKind family, int rank, int worldSize, HostRank local, RendezvousPoint rendezvous) {
        this(family, rank, worldSize, local, new JobStart(0, rendezvous.key(), rendezvous));
    }

    private RankOfJob(LauncherKind family, int rank, int worldSize, HostRank local, JobStart start) {
        Objects.requireNonNull(family, "family");
        this.family = family;
        this.rank = rank;
        this.worldSize = worldSize;
        this.local = local;
        this.start = start;
    }

    RankOfJob started(int generation, Optional<String> jobId, RendezvousPoint rendezvous) {
        return new RankOfJob(family, rank, worldSize, local, new JobStart(generation, jobId, rendezvous));
    }

    /** {@return the launcher that set the variables} */
    public LauncherKind family() {
        return family;
    }

    /** {@return this rank} */
    public int rank() {
        return rank;
    }

    /** {@return the number of ranks} */
    public int worldSize() {
        return worldSize;
    }

    /** {@return the number of this rank on its host; empty if the launcher does not give this number} */
    public OptionalInt localRank() {
        return local.rank;
    }

    /** {@return the number of ranks on this host; empty if the launcher does not give this number} */
    public OptionalInt localWorldSize() {
        return local.worldSize;
    }

    /**
     * {@return how often the job has been started again; 0 for the first start, or if no variable counts restarts} Each
     * agent of torchrun counts the restarts of its own node.
     */
    public int generation() {
        return start.generation;
    }

    /**
     * Returns the name that distinguishes this start of the job from other jobs and from other starts.
     *
     * @return {@code FERRO_JOB_ID}, else the key of the rendezvous point. The generation is part of the name if all
     *     ranks have the same generation and no launcher has chosen the job id. Empty if neither a key nor a common
     *     generation is given
     */
    public Optional<String> jobId() {
        return start.jobId;
    }

    /** {@return the key and address by which the ranks find each other} */
    public RendezvousPoint rendezvous() {
        return start.rendezvous;
    }

    /**
     * {@return a description of this rank for the line that a join prints, for example
     * {@code job of Open MPI: rank 1 of 4, 1 of 2 on this host}}
     */
    public String title() {
        boolean known = local.rank.isPresent() && local.worldSize.isPresent();
        return "job of " + family.title() + ": rank " + rank + " of " + worldSize
                + (known ? ", " + local.rank.getAsInt() + " of " + local.worldSize.getAsInt() + " on this host" : "");
    }

    @Override
    public String toString() {
        return "RankOfJob[family=" + family + ", rank=" + rank + ", worldSize=" + worldSize + ", localRank="
                + local.rank + ", localWorldSize=" + local.worldSize + ", generation=" + start.generation + ", jobId="
                + start.jobId + ", rendezvous=" + start.rendezvous + "]";
    }
}
