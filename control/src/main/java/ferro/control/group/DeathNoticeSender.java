package ferro.control.group;

import ferro.control.failure.Failure;
import ferro.control.wire.RankSetFormat;
import java.util.BitSet;
import java.util.Set;

/**
 * The sender of notices about dead ranks that the failure of a large group does not name. A notice reaches all ranks,
 * because only the neighbours of a dead rank can determine that the rank had not left. Each rank sends each death to
 * its neighbours once. Thread-safe.
 */
final class DeathNoticeSender {
    /** The time for which this rank collects deaths from other ranks before it forwards the deaths. */
    private static final long FORWARD_NANOS = 20_000_000L;

    private final AgreedFailure failure;
    private final LinkLossJudge linkJudge;
    /** Ranks whose death this rank has sent to its neighbours, or will forward. */
    private final BitSet sent = new BitSet();

    private final BitSet toForward = new BitSet();

    DeathNoticeSender(AgreedFailure failure, LinkLossJudge linkJudge) {
        this.failure = failure;
        this.linkJudge = linkJudge;
    }

    /** Returns whether the group sends no deaths. In a small group, each rank judges each death itself. */
    boolean areNone() {
        return failure.sendsToAll();
    }

    /** Forwards deaths that another rank has sent, after a short delay in which more deaths may arrive. */
    void heard(Set<Integer> ranks) {
        boolean isFirst;
        synchronized (this) {
            isFirst = toForward.isEmpty();
            ranks.stream().filter(rank -> !sent.get(rank)).forEach(toForward::set);
            sent.or(toForward);
            isFirst &= !toForward.isEmpty();
        }
        if (isFirst) {
            linkJudge.afterReading(this::forward, FORWARD_NANOS);
        }
    }

    private void forward() {
        BitSet ranks;
        synchronized (this) {
            ranks = (BitSet) toForward.clone();
            toForward.clear();
        }
        send(RankSetFormat.numbers(ranks));
    }

    /** If the group has failed, sends all deaths that this rank has not sent yet, even deaths still to be forwarded. */
    void sendNew(BitSet dead) {
        if (areNone() || !failure.isKnown()) {
            return;
        }
        BitSet unsent = (BitSet) dead.clone();
        synchronized (this) {
            unsent.andNot(sent);
            sent.or(unsent);
            unsent.or(toForward);
            toForward.clear();
        }
        send(RankSetFormat.numbers(unsent));
    }

    private void send(Set<Integer> ranks) {
        Failure known = failure.cause();
        if (known == null) {
            return;
        }
        ranks.removeAll(known.culprits());
        while (!ranks.isEmpty()) {
            ranks.removeAll(failure.sendDead(ranks));
        }
    }
}
