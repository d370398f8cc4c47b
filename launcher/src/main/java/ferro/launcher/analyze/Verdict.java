package ferro.launcher.analyze;

import java.util.List;
import java.util.SortedSet;

/**
 * Which ranks are to blame, and for what.
 *
 * @param kind     what kind of trouble
 * @param guilty   ranks to look at; empty if no rank is to blame or none can be named
 * @param headline one sentence
 * @param reasons  reasons, one sentence each
 * @param group    name of the group in which it was seen, empty if none
 * @param sequence number of the call in which it was seen, -1 if none
 * @param agreed   failure on which ranks agree, and these ranks
 */
record Verdict(
        TroubleKind kind,
        SortedSet<Integer> guilty,
        String headline,
        List<String> reasons,
        String group,
        long sequence,
        Agreed agreed) {
    /** The kind of trouble. */
    enum TroubleKind {
        /** A group has failed, and its members say why. */
        FAILED,
        /** Ranks made different calls under one number. */
        MISMATCH,
        /** Ranks wait for a rank that keeps them waiting. */
        WAITING,
        /** Ranks wait for each other in a circle. */
        DEADLOCK,
        /** Nothing is wrong, as far as recorded. */
        NOTHING
    }
}
