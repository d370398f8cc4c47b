package ferro.job;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * The rank of this process in its job, from the variables of one launcher.
 *
 * @param family         launcher that set the variables
 * @param rank           this rank
 * @param worldSize      number of ranks
 * @param localRank      number of this rank on its host, if the launcher gives it
 * @param localWorldSize number of ranks on this host, if the launcher gives it
 * @param meeting        key and address by which the ranks find each other
 */
public record RankOfJob(
        LauncherKind family,
        int rank,
        int worldSize,
        OptionalInt localRank,
        OptionalInt localWorldSize,
        RendezvousPoint meeting) {
    /**
     * Rejects null. {@link ferro.spi.GroupSpec} checks whether rank and world size fit.
     *
     * @param family         launcher that set the variables
     * @param rank           this rank
     * @param worldSize      number of ranks
     * @param localRank      number of this rank on its host
     * @param localWorldSize number of ranks on this host
     * @param meeting        key and address by which the ranks find each other
     */
    public RankOfJob {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(localRank, "localRank");
        Objects.requireNonNull(localWorldSize, "localWorldSize");
        Objects.requireNonNull(meeting, "meeting");
    }

    /**
     * Returns a description of this rank, for the line that a join prints.
     *
     * @return for example {@code job of Open MPI: rank 1 of 4, 1 of 2 on this host}
     */
    public String title() {
        boolean local = localRank.isPresent() && localWorldSize.isPresent();
        return "job of " + family.title() + ": rank " + rank + " of " + worldSize
                + (local ? ", " + localRank.getAsInt() + " of " + localWorldSize.getAsInt() + " on this host" : "");
    }
}
