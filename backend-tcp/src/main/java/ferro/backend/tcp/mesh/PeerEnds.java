package ferro.backend.tcp.mesh;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;

/**
 * Reports peers whose control connection has ended, after the frames that have come from all other peers are handled. These
 * frames may contain the reason of the end. A rank that was stopped and continues finds the end of one connection, and
 * unread frames of other connections in which the other ranks report that they have given it up. Used on the loop only.
 */
final class PeerEnds {
    private final AtomicReferenceArray<ControlConnection> connections;
    private final IntConsumer listener;
    /** Peers whose end is not reported yet, and for which no reading has begun. */
    private final BitSet waiting = new BitSet();

    private final BitSet reported = new BitSet();
    /** Peers that have said goodbye. */
    private final BitSet closed = new BitSet();
    /** Whether frames of the open connections are still read. */
    private boolean isReading;

    /**
     * Makes an object that knows of no end.
     *
     * @param connections the open connection to each peer; null where there is none
     * @param listener    receives each peer whose end is reported
     */
    PeerEnds(AtomicReferenceArray<ControlConnection> connections, IntConsumer listener) {
        this.connections = connections;
        this.listener = listener;
    }

    boolean isReported(int peer) {
        return reported.get(peer);
    }

    /** Notes that a peer has said goodbye, before its connection ends. */
    void closes(int peer) {
        closed.set(peer);
    }

    /** Returns whether a peer has said goodbye before its connection ended. */
    boolean hasClosed(int peer) {
        return closed.get(peer);
    }

    /** Adds a peer whose connection has ended; called once per peer. */
    void add(int peer) {
        waiting.set(peer);
        if (!isReading) {
            readOn();
        }
    }

    /** Waits once for all peers that wait now, because all ranks of a machine may end together. */
    private void readOn() {
        BitSet peers = (BitSet) waiting.clone();
        waiting.clear();
        List<ControlConnection> open = new ArrayList<>();
        for (int peer = 0; peer < connections.length(); peer++) {
            ControlConnection connection = connections.get(peer);
            if (connection != null) {
                open.add(connection);
            }
        }
        if (open.isEmpty()) {
            report(peers);
            return;
        }
        isReading = true;
        ControlConnection.afterReading(open, () -> {
            isReading = false;
            report(peers);
            if (!waiting.isEmpty()) {
                readOn();
            }
        });
    }

    private void report(BitSet peers) {
        reported.or(peers);
        for (int peer = peers.nextSetBit(0); peer >= 0; peer = peers.nextSetBit(peer + 1)) {
            listener.accept(peer);
        }
    }
}
