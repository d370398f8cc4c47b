package ferro.backend.simulated;

import ferro.Work;
import ferro.group.ProcessGroup;

/** Something that ranks of a random program do, maybe with memory that a test can tell right from wrong. */
interface Op {
    /** Starts it on the caller's rank; returns null if there is nothing to wait for. */
    Work submit(ProcessGroup group);

    /** Returns whether the rank goes on only when it has ended, where it does one thing after the other. */
    default boolean isInOrder() {
        return false;
    }

    /** Returns what is wrong with a result that a rank was given, or null. */
    default String wrongOn(int rank) {
        return null;
    }

    /** The caller has its memory back and uses it for something else. */
    default void reuseMemoryOf(int rank) {}

    /** Returns whether somebody has touched memory that the caller had back. */
    default boolean isTouchedOn(int rank) {
        return false;
    }
}
