package ferro.collectives;

import ferro.HostTensor;

/** One point-to-point operation; touched by whoever drives, but for its {@code work}. */
final class Transfer {
    final PendingWork work;
    final HostTensor tensor;
    final int peer;
    final int tag;
    final boolean isSend;
    /** Whether the other side has met it, so that it can no longer be given up without harm. */
    boolean matched;

    Transfer(PendingWork work, HostTensor tensor, int peer, int tag, boolean isSend) {
        this.work = work;
        this.tensor = tensor;
        this.peer = peer;
        this.tag = tag;
        this.isSend = isSend;
    }

    /** Returns how far it is: whom it waits for is all that is known of it. */
    PendingWork.Position position() {
        return new PendingWork.Position(-1, 0, Integer.toString(peer));
    }

    /** A receive that nothing has met may be given up alone; everything else is the whole group's failure. */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
