package ferro.control.group;

import ferro.control.failure.Failure;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The failure of the group that a group was made of, or of an earlier one in that line. What ranks do after it in the new
 * group is a consequence: a rank that ends because of it leaves all its groups. Thread-safe.
 */
final class ParentFailure {
    /** The first group of a line, which was made of no other. */
    static final ParentFailure NONE = new ParentFailure("", new int[0], null, null);

    private final String name;
    private final int[] ranks;
    private final AgreedFailure own;
    private final ParentFailure earlier;

    /**
     * Makes the view of a new group.
     *
     * @param name    name of the parent
     * @param ranks   ranks of the parent, in the order of the new group
     * @param own     failure of the parent, if it has failed
     * @param earlier the same view of the parent
     */
    ParentFailure(String name, int[] ranks, AgreedFailure own, ParentFailure earlier) {
        this.name = name;
        this.ranks = ranks;
        this.own = own;
        this.earlier = earlier;
    }

    /**
     * Returns the failure with its culprits in the ranks of the new group, or null if there is none. The origin is -1 if the
     * rank that saw the failure first is no member.
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
     * Sends the failure, if there is one, to a rank of the new group before this rank says goodbye to it there: that rank may
     * not have heard of the failure, because it is no neighbour in the group that has failed.
     */
    void send(int peer) {
        if (this != NONE) {
            own.sendUnlessNeighbour(ranks[peer]);
            earlier.send(ranks[peer]);
        }
    }

    /** Returns a failure of a parent in the ranks of a new group; a rank that is no member is left out. */
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
