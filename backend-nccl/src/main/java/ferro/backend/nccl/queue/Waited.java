package ferro.backend.nccl.queue;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Ranks that an operation waits for, as far as is known. Only a rank that cannot have returned from the operation is to
 * blame: NCCL lets a rank return that has passed on its part of a broadcast, reduce, gather or scatter, and a rank that
 * has returned leaves no record.
 *
 * @param evidence certainty of the information
 * @param absent   ranks that have not said that they wait in it
 * @param silent   ranks that have not answered the other half of the group
 */
record Waited(Evidence evidence, Set<Integer> absent, Set<Integer> silent) {
    /** Certainty of the information in the records of the ranks. */
    enum Evidence {
        /** Nothing is known: the store has not answered. */
        NONE,
        /** An absent rank has not called, or has returned already. */
        DOUBTFUL,
        /** An absent rank has not called: no rank returns before all have called. */
        SURE
    }

    /** Returns an object without information. */
    static Waited unknown() {
        return new Waited(Evidence.NONE, Set.of(), Set.of());
    }

    /** Returns the information of the records about an operation. */
    static Waited of(NcclWork work, Set<Integer> absent) {
        boolean sure = work.title().isMessage() || work.title().operation().needsAllOfAll();
        return new Waited(sure ? Evidence.SURE : Evidence.DOUBTFUL, absent, Set.of());
    }

    /** Returns the same, with the silent ranks that the other half knows. */
    Waited butSilent(Set<Integer> ranks) {
        return new Waited(evidence, absent, ranks);
    }

    /** Returns the ranks to blame, ascending. */
    Set<Integer> culprits() {
        Set<Integer> blamed = new TreeSet<>(silent);
        if (evidence == Evidence.SURE) {
            blamed.addAll(absent);
        }
        return blamed;
    }

    /** Returns the message for users. */
    String text() {
        String who = ranks(absent);
        boolean one = absent.size() == 1;
        String words;
        if (evidence == Evidence.NONE) {
            words = "another rank is late, gone, or made another call";
        } else if (absent.isEmpty()) {
            words = "all ranks have called it";
        } else if (evidence == Evidence.SURE) {
            words = who + (one ? " has" : " have") + " not called it";
        } else {
            words = who + (one ? " does" : " do") + " not wait in it (not called, or already returned)";
        }
        return silent.isEmpty() ? words : words + "; no answer from " + ranks(silent);
    }

    private static String ranks(Set<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ") + list(ranks);
    }

    private static String list(Set<Integer> ranks) {
        return new TreeSet<>(ranks).stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
