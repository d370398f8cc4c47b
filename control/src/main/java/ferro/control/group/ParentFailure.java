package ferro.control.group;

import ferro.control.failure.Failure;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The failure of the parent of a group, or of an earlier ancestor. What ranks do in the new group after a failure of
 * its parent is a consequence, because a rank that ends because of this failure leaves all its groups. Thread-safe.
 */
final class ParentFailure {
    /** The value for a joined group, which has no parent. */
    static final ParentFailure NONE = new ParentFailure("", new int[0], null, null);

    private final String name;
    private final int[] ranks;
    private final AgreedFailure own;
    private final ParentFailure earlier;

    /**
     * Creates the object that keeps the failure of a parent for a new group.
     *
     * @param name    name of the parent
     * @param ranks   ranks of the parent, in the order of the new group
     * @param own     failure of the parent, if it has failed
     * @param earlier failure of the ancestors of the parent
     */
    ParentFailure(String name, int[] ranks, AgreedFailure own, ParentFailure earlier) {
        this.name = name;
        this.ranks = ranks;
        this.own = own;
        this.earlier = earlier;
    }

    /**
     * Returns the failure of a parent with the numbers that its culprits have in the new group, or null if no parent
     * has failed. The origin is -1 if the rank that detected the failure first is not a member.
     */
    Failure cause() {
        if (this == NONE) {
            return null;
        }
        Failure known = own.cause();
        if (known == null) {
            known = earlier.cause();
        }
        return known == null ? null : translated(known, ranks, "in its parent \"" + name + "\" ");
    }

    /**
     * Sends the failure, if a parent has failed, to a rank of the new group. Called before this rank sends a goodbye to
     * that rank. A receiver that is not a neighbour in the failed group may not have received the failure before.
     */
    void send(int peer) {
        if (this != NONE) {
            own.sendUnlessNeighbour(ranks[peer]);
            earlier.send(ranks[peer]);
        }
    }

    /** Returns a failure of a parent with the rank numbers of a new group. Ranks that are not members are left out. */
    static Failure translated(Failure ofParent, int[] ranks, String before) {
        Set<Integer> culprits = IntStream.range(0, ranks.length)
                .filter(rank -> ofParent.culprits().contains(ranks[rank]))
                .boxed()
                .collect(Collectors.toSet());
        int origin = IntStream.range(0, ranks.length)
                .filter(rank -> ranks[rank] == ofParent.origin())
                .findFirst()
                .orElse(-1);
        return new Failure(ofParent.code(), origin, -1, culprits, before + ofParent.text(), null);
    }
}
