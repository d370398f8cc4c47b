package ferro.job;

import java.util.Objects;
import java.util.OptionalInt;

/** The rank of this process in its job, from the variables of one launcher. */
public final class RankOfJob {
    private final LauncherKind family;
    private final int rank;
    private final int worldSize;
    private final RankOnHost local;
    private final RendezvousPoint rendezvous;

    /** The rank on the host and the number of ranks on the host, if the launcher gives them. */
    record RankOnHost(OptionalInt rank, OptionalInt worldSize) {}

    RankOfJob(LauncherKind family, int rank, int worldSize, RankOnHost local, RendezvousPoint rendezvous) {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(rendezvous, "rendezvous");
        this.family = family;
        this.rank = rank;
        this.worldSize = worldSize;
        this.local = local;
        this.rendezvous = rendezvous;
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

    /** {@return the number of this rank on its host, if the launcher gives it} */
    public OptionalInt localRank() {
        return local.rank;
    }

    /** {@return the number of ranks on this host, if the launcher gives it} */
    public OptionalInt localWorldSize() {
        return local.worldSize;
    }

    /** {@return the key and address by which the ranks find each other} */
    public RendezvousPoint rendezvous() {
        return rendezvous;
    }

    /**
     * Returns a description of this rank, for the line that a join prints.
     *
     * @return for example {@code job of Open MPI: rank 1 of 4, 1 of 2 on this host}
     */
    public String title() {
        boolean known = local.rank.isPresent() && local.worldSize.isPresent();
        return "job of " + family.title() + ": rank " + rank + " of " + worldSize
                + (known ? ", " + local.rank.getAsInt() + " of " + local.worldSize.getAsInt() + " on this host" : "");
    }

    @Override
    public String toString() {
        return "RankOfJob[family=" + family + ", rank=" + rank + ", worldSize=" + worldSize + ", localRank="
                + local.rank + ", localWorldSize=" + local.worldSize + ", rendezvous=" + rendezvous + "]";
    }
}
