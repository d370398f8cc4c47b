package ferro.collectives.engine.p2p;

import ferro.HostTensor;
import ferro.collectives.engine.progress.PendingWork;
import ferro.spi.Link;
import java.util.Set;

/** One point-to-point operation. Except for {@code work}, it belongs to the thread that makes progress. */
public final class Transfer {
    public final PendingWork work;
    final HostTensor tensor;
    final int peer;
    final int tag;
    final boolean isSend;
    /** Whether it is matched with the other side, so that it can no longer be given up without harm. */
    boolean matched;
    /** Whether it has had its event LATE, or has none because its timeout is short. */
    boolean isWarned;
    /** For a send: its number among the messages to that peer, counted from 1. */
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

    /** Notes that its elements are next on a link. */
    void moves(Link on) {
        link = on;
        bytesBefore = on.bytesMoved();
    }

    /** Describes what is moved, for example f32[1000]. */
    String shape() {
        return MatchingQueue.shape(tensor.dataType(), tensor.byteCount());
    }

    /** Returns how far it is, as an upper bound: other transfers of the same peer may move beside it. */
    PendingWork.Position position() {
        long moved = link == null ? 0 : Math.min(tensor.byteCount(), link.bytesMoved() - bytesBefore);
        return new PendingWork.Position(-1, moved, Set.of(peer));
    }

    /** Returns whether it may be given up alone. Only an unmatched receive may; otherwise the whole group fails. */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
