package ferro.launcher.analyze;

import java.util.List;
import java.util.SortedSet;

/**
 * Who is to blame, and for what.
 *
 * @param kind     what kind of trouble
 * @param guilty   ranks to look at; empty if nobody is to blame or nobody can be named
 * @param headline one sentence
 * @param reasons  what it rests on, one sentence each
 * @param group    name of the group in which it was seen, empty if none
 * @param sequence of the call in which it was seen, -1 if none
 */
record Verdict(
        Kind kind, SortedSet<Integer> guilty, String headline, List<String> reasons, String group, long sequence) {
    /** What kind of trouble. */
    enum Kind {
        /** A group has failed, and its members say why. */
        FAILED,
        /** Ranks made different calls under one number. */
        MISMATCH,
        /** Ranks wait, and somebody keeps them waiting. */
        WAITING,
        /** Ranks wait for one another in a circle. */
        DEADLOCK,
        /** Nothing is wrong, as far as recorded. */
        NOTHING
    }
}
