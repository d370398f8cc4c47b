package ferro.control.group;

import ferro.control.failure.ControlMessage.Left;
import java.util.BitSet;

/**
 * Forwards the lowest leaver to the neighbours. A lower last collective is forwarded at once, because calls fail because of
 * it. Of an equal one a lower rank only changes the rank that an error names: it is forwarded a little later, so that many
 * ranks that leave one after the other cause few messages. Thread-safe.
 */
final class LeaverNews {
    private static final long DELAY_NANOS = 50_000_000L;

    private final ControlSender sender;
    private final Leavers leavers;
    private final Timers timers;
    /** The last leaver that was sent, or null. */
    private Left sent;

    private boolean isScheduled;

    LeaverNews(ControlSender sender, Leavers leavers, Timers timers) {
        this.sender = sender;
        this.leavers = leavers;
        this.timers = timers;
    }

    /** Forwards the lowest leaver, which has changed. */
    void forward() {
        Left known = leavers.lowest();
        boolean isLater;
        synchronized (this) {
            isLater = sent != null && known.lastSequence() == sent.lastSequence();
            if (isLater && isScheduled) {
                return;
            }
            isScheduled |= isLater;
            sent = isLater ? sent : known;
        }
        if (isLater) {
            timers.later(this::sendLowest, DELAY_NANOS);
        } else {
            send(known);
        }
    }

    private void sendLowest() {
        Left known = leavers.lowest();
        synchronized (this) {
            isScheduled = false;
            if (known.equals(sent)) {
                return;
            }
            sent = known;
        }
        send(known);
    }

    private void send(Left leaver) {
        BitSet receivers = sender.neighbours().ranks();
        receivers.clear(leaver.rank());
        receivers.stream().forEach(peer -> send(peer, leaver));
    }

    /**
     * Sends a leaver to one rank, and the failure of a parent before it: the rank may have left because of that failure, and
     * the receiver may hear of it on a longer way.
     */
    private void send(int peer, Left leaver) {
        leavers.parentFailure().send(peer);
        sender.tell(peer, leaver);
    }

    /** Sends the lowest leaver, if there is one, to a rank that is a new neighbour. */
    void sendToNew(int peer) {
        Left known = leavers.lowest();
        if (known != null) {
            send(peer, known);
        }
    }
}
