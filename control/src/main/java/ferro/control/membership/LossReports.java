package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.membership.MembershipMessage.Found;
import ferro.control.membership.MembershipMessage.Lost;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Sends the losses that this rank has seen to the ranks that have not seen them. Several ranks see the same loss, so each of
 * them sends it to a part of the others.
 */
final class LossReports {
    /** A silence is sent to all by this number of ranks: the nearest ones before the silent rank that live. */
    private static final int NEAREST = 2;

    private final WatchCircle circle;
    private final Peer[] peers;
    private final String process;
    private final IntPredicate isSuspected;
    /** Silent ranks that this rank has reported to all others; only the ticks of the membership use it. */
    private final BitSet reportedToAll = new BitSet();

    /**
     * Makes the reports of a rank.
     *
     * @param process     identity of the process of this rank, empty if it is unknown
     * @param isSuspected whether a rank that this rank watches is silent
     */
    LossReports(WatchCircle circle, Peer[] peers, String process, IntPredicate isSuspected) {
        this.circle = circle;
        this.peers = peers;
        this.process = process;
        this.isSuspected = isSuspected;
    }

    /** Reports a loss that this rank has seen. */
    void report(Lost loss, ControlLane lane) {
        int lost = loss.rank();
        if (loss.code() == Code.PARTITION) {
            reportedToAll.set(lost, nearerWatchers(lost) < NEAREST);
            sendToUnaware(lost, loss.encoded(), lane);
        } else if (loss.code() != Code.PEER_LOST || !isReportedByOwnProcess(lost)) {
            send(rank -> rank != lost, loss.encoded(), lane);
        }
    }

    /** Reports that a rank whose silence was reported is heard of again, to the same ranks. */
    void reportFound(int found, ControlLane lane) {
        sendToUnaware(found, new Found(found).encoded(), lane);
    }

    /** Sends to the ranks that do not watch a silent rank, and to which this rank reports the silence. */
    private void sendToUnaware(int silent, ByteBuffer message, ControlLane lane) {
        boolean toAll = reportedToAll.get(silent);
        send(rank -> !circle.isWatched(silent, rank) && (toAll || circle.reportsSilence(silent, rank)), message, lane);
    }

    private void send(IntPredicate receives, ByteBuffer message, ControlLane lane) {
        for (int rank : circle.others()) {
            if (receives.test(rank) && !peers[rank].isOver()) {
                lane.control(rank, message.duplicate());
            }
        }
    }

    /** Returns how many ranks between this one and a silent rank, which watch that rank too, are there. */
    private int nearerWatchers(int silent) {
        int count = 0;
        for (int rank : circle.between(silent)) {
            count += peers[rank].isExpected() && !isSuspected.test(rank) ? 1 : 0;
        }
        return count;
    }

    /**
     * Returns whether a rank of the same process is nearer to a rank whose process has exited. That rank looks at the same
     * process, because it looks at no more ranks before it than this rank.
     */
    private boolean isReportedByOwnProcess(int exited) {
        for (int rank : circle.between(exited)) {
            if (!process.isEmpty() && process.equals(peers[rank].identity()) && !peers[rank].isOver()) {
                return true;
            }
        }
        return false;
    }
}
