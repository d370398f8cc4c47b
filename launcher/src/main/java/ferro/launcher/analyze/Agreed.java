package ferro.launcher.analyze;

import java.util.Set;

/**
 * The failure on which ranks agree: each of them has recorded this code and the same ranks to blame.
 *
 * @param code  name of the code, empty if there is no such failure
 * @param ranks ranks that have recorded it
 */
public record Agreed(String code, Set<Integer> ranks) {
    /** No group has failed. */
    public static final Agreed NONE = new Agreed("", Set.of());

    /**
     * Returns whether a rank has recorded this failure.
     *
     * @param rank     rank
     * @param itsCode  code of the exception that ended the rank
     * @return whether the verdict says why the rank has ended
     */
    public boolean explains(int rank, String itsCode) {
        return !code.isEmpty() && code.equals(itsCode) && ranks.contains(rank);
    }
}
