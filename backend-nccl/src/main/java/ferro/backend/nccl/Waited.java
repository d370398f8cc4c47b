package ferro.backend.nccl;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Whom an operation waits for, as far as anybody knows. To blame is only who cannot have returned from it: NCCL lets a rank go
 * that has handed on what a broadcast, reduce, gather or scatter wants of it, and who has gone leaves no note.
 *
 * @param evidence how sure it is
 * @param absent   ranks that have not said that they wait in it
 * @param silent   ranks that have not answered the other half of the group
 */
record Waited(Evidence evidence, Set<Integer> absent, Set<Integer> silent) {
    /** What the notes of the ranks say. */
    enum Evidence {
        /** Nothing: the store has not answered. */
        NONE,
        /** Who is absent has not called, or has returned already. */
        DOUBTFUL,
        /** Who is absent has not called: nobody returns before all have. */
        SURE
    }

    /** Nothing is known. */
    static Waited unknown() {
        return new Waited(Evidence.NONE, Set.of(), Set.of());
    }

    /** Returns what notes tell of an operation. */
    static Waited of(NcclWork work, Set<Integer> absent) {
        boolean sure = work.title().isMessage() || work.title().operation().needsAllOfAll();
        return new Waited(sure ? Evidence.SURE : Evidence.DOUBTFUL, absent, Set.of());
    }

    /** Returns the same, with what the other half knows. */
    Waited butSilent(Set<Integer> ranks) {
        return new Waited(evidence, absent, ranks);
    }

    /** Returns the ranks to blame, comma-separated. */
    String culprits() {
        Set<Integer> blamed = new TreeSet<>(silent);
        if (evidence == Evidence.SURE) {
            blamed.addAll(absent);
        }
        return list(blamed);
    }

    /** Says it for people. */
    String text() {
        String who = ranks(absent);
        boolean one = absent.size() == 1;
        String notes;
        if (evidence == Evidence.NONE) {
            notes = "another rank is late, gone, or made another call";
        } else if (absent.isEmpty()) {
            notes = "all ranks have called it";
        } else if (evidence == Evidence.SURE) {
            notes = who + (one ? " has" : " have") + " not called it";
        } else {
            notes = who + (one ? " does" : " do") + " not wait in it: not called, or returned already";
        }
        return silent.isEmpty() ? notes : notes + "; nothing is heard of " + ranks(silent);
    }

    private static String ranks(Set<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ") + list(ranks);
    }

    private static String list(Set<Integer> ranks) {
        return new TreeSet<>(ranks).stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
