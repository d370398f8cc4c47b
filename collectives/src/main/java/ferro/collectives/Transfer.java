package ferro.collectives;

import ferro.HostTensor;
import ferro.spi.Link;

/** One point-to-point operation; touched by whoever drives, but for its {@code work}. */
final class Transfer {
    final PendingWork work;
    final HostTensor tensor;
    final int peer;
    final int tag;
    final boolean isSend;
    /** Whether the other side has met it, so that it can no longer be given up without harm. */
    boolean matched;
    /** Of a send: how many messages to that peer it makes with those before it. */
    long number;

    private Link link;
    private long bytesBefore;

    Transfer(PendingWork work, HostTensor tensor, int peer, int tag, boolean isSend) {
        this.work = work;
        this.tensor = tensor;
        this.peer = peer;
        this.tag = tag;
        this.isSend = isSend;
    }

    /** Its elements are next on a link. */
    void moves(Link on) {
        link = on;
        bytesBefore = on.bytesMoved();
    }

    /** Says what is moved: f32[1000]. */
    String shape() {
        return Mailbox.shape(tensor.dataType(), tensor.byteCount());
    }

    /** Returns how far it is: at most so many bytes, since others of the same peer may move beside it. */
    PendingWork.Position position() {
        long moved = link == null ? 0 : Math.min(tensor.byteCount(), link.bytesMoved() - bytesBefore);
        return new PendingWork.Position(-1, moved, Integer.toString(peer));
    }

    /** A receive that nothing has met may be given up alone; everything else is the whole group's failure. */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
