package ferro.control.group;

import ferro.control.failure.Failure;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The groups that this rank has created from its group. Another member that has not received the proposals of all
 * members may give up an attempt that has already succeeded on this rank. A member that gives up never enters the new
 * group, so the group fails on this rank with the cause of that member. Thread-safe.
 */
public final class CreatedSubgroups {
    private final String parent;
    private final Supplier<ParentFailure> ofParents;
    private final AgreedFailure failure;
    private final Map<Long, CreatedSubgroup> groups = new HashMap<>();

    /** A new group, and the attempt by which this rank created the group. */
    private static final class CreatedSubgroup {
        private final int[] ranks;
        private final Map<Integer, Long> rounds;
        /**
         * The control; null until the group is open on this rank. The reference is cleared when nothing uses the group
         * any more.
         */
        private WeakReference<GroupControl> control;
        /** A failure that arrived before the group was open on this rank, or null. */
        private Failure early;

        CreatedSubgroup(int[] ranks, Map<Integer, Long> rounds) {
            this.ranks = ranks;
            this.rounds = rounds;
        }

        boolean isOver() {
            return control != null && control.get() == null;
        }
    }

    /** Creates an empty set. */
    CreatedSubgroups(String parent, AgreedFailure failure, Supplier<ParentFailure> ofParents) {
        this.parent = parent;
        this.failure = failure;
        this.ofParents = ofParents;
    }

    /** Records an attempt that has succeeded. {@code rounds} has the round of each other member. */
    synchronized void add(long identity, int[] ranks, Map<Integer, Long> rounds) {
        groups.values().removeIf(CreatedSubgroup::isOver);
        groups.put(identity, new CreatedSubgroup(ranks, rounds));
    }

    /** Records that a group is open on this rank. Fails the group if a member has given up its attempt. */
    public void opened(long identity, GroupControl control) {
        Failure early;
        synchronized (this) {
            CreatedSubgroup made = groups.get(identity);
            made.control = new WeakReference<>(control);
            early = made.early;
            control.exits().leavers().madeOf(new ParentFailure(parent, made.ranks, failure, ofParents.get()));
        }
        if (early != null) {
            control.fail(early);
        }
    }

    /** Fails the group of an attempt that a member has given up, if that group exists. */
    void cancelled(int peer, long round, Failure why) {
        GroupControl control;
        Failure failure;
        synchronized (this) {
            Optional<CreatedSubgroup> found = groups.values().stream()
                    .filter(made -> Long.valueOf(round).equals(made.rounds.get(peer)))
                    .findFirst();
            if (found.isEmpty()) {
                return;
            }
            CreatedSubgroup made = found.get();
            failure = ParentFailure.translated(
                    why, made.ranks, "a member has not made this group; in its parent \"" + parent + "\" ");
            if (made.control == null) {
                made.early = failure;
                return;
            }
            control = made.control.get();
        }
        if (control != null) {
            control.fail(failure);
        }
    }
}
