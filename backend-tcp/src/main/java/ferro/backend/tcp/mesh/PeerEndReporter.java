package ferro.backend.tcp.mesh;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;

/**
 * Reports the peers whose control connection has ended. An end is reported after the received frames of all other peers
 * were handled, because these frames may contain the reason for the end. For example, a rank that was suspended may
 * find one connection ended when it resumes. Unread frames on the other connections then show that the other ranks
 * consider the suspended rank lost. Used on the loop only.
 */
final class PeerEndReporter {
    private final AtomicReferenceArray<ControlConnection> connections;
    private final IntConsumer listener;
    /** Peers whose end is not reported yet. For these peers, the open connections are still to be read. */
    private final BitSet waiting = new BitSet();

    private final BitSet reported = new BitSet();
    /** Peers that have sent goodbye. */
    private final BitSet closed = new BitSet();
    /** Whether the open connections are being read before a report. */
    private boolean isReading;

    /**
     * Creates an object without ended peers.
     *
     * @param connections open connection to each peer; null for a peer without an open connection
     * @param listener    receives each peer whose end is reported
     */
    PeerEndReporter(AtomicReferenceArray<ControlConnection> connections, IntConsumer listener) {
        this.connections = connections;
        this.listener = listener;
    }

    boolean isReported(int peer) {
        return reported.get(peer);
    }

    /** Records that a peer has sent goodbye, before its connection ends. */
    void closes(int peer) {
        closed.set(peer);
    }

    /** Returns whether a peer has sent goodbye before its connection ended. */
    boolean hasClosed(int peer) {
        return closed.get(peer);
    }

    /** Adds a peer whose control connection has ended. Called once per peer. */
    void add(int peer) {
        waiting.set(peer);
        if (!isReading) {
            readOn();
        }
    }

    /** Reads the open connections once for all {@link #waiting} peers, because all ranks of a host may end together. */
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
