package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Connections whose bytes only wake a thread. To signal a peer, a thread writes to the socket on which the peer's
 * progress thread waits. Therefore a signal needs no other thread in either process. Used by the progress thread of the
 * transport.
 */
public final class WakeConnections {
    /** Maximum bytes of one read. A peer sends one signal for each time that this rank waits. */
    private static final int BYTES = 64;

    private final DataSocket[] wires;
    private final boolean[] asked;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    private long heard;
    private boolean closed;

    /** Creates an object for one doorbell per rank. The doorbells have no connections yet. */
    public WakeConnections(int worldSize) {
        this.wires = new DataSocket[worldSize];
        this.asked = new boolean[worldSize];
    }

    /** Returns whether the caller must request a doorbell connection to a peer. Returns true only once per peer. */
    public boolean asksFor(int peer) {
        boolean asks = wires[peer] == null && !asked[peer];
        asked[peer] = true;
        return asks;
    }

    /** Takes over the connection of a doorbell. Either side may have requested the connection. */
    public void register(int peer, DataSocket wire) {
        if (closed || wires[peer] != null) {
            wire.close();
            return;
        }
        wires[peer] = wire;
    }

    /** Signals the doorbell of a peer. Returns false if no connection to the peer exists. */
    public boolean signal(int peer) {
        DataSocket wire = wires[peer];
        if (wire == null) {
            return false;
        }
        try {
            // if the byte does not fit, the peer has unread bytes, so the peer wakes up in any case
            wire.write(bytes, 0, 1);
            return true;
        } catch (IOException gone) {
            // the control connection reports which peer is lost, and why
            drop(peer);
            return false;
        }
    }

    /** Makes a signal of any peer end the next wait. */
    public void want() {
        for (DataSocket wire : wires) {
            if (wire != null) {
                wire.want(true, false);
            }
        }
    }

    /** Returns how many signals this rank has read, from all peers together. */
    public long heard() {
        return heard;
    }

    /** Reads the signals that have arrived, so that these signals do not end the next wait. */
    public void silence() {
        for (int peer = 0; peer < wires.length; peer++) {
            if (wires[peer] != null && wires[peer].readable() && !isSilenced(wires[peer])) {
                drop(peer);
            }
        }
    }

    private boolean isSilenced(DataSocket wire) {
        try {
            int came;
            do {
                came = wire.read(bytes, 0, BYTES);
                heard += Math.max(0, came);
            } while (came == BYTES);
            return came >= 0;
        } catch (IOException gone) {
            return false;
        }
    }

    private void drop(int peer) {
        wires[peer].close();
        wires[peer] = null;
    }

    /** Closes all connections; idempotent. */
    public void close() {
        closed = true;
        for (int peer = 0; peer < wires.length; peer++) {
            if (wires[peer] != null) {
                drop(peer);
            }
        }
    }
}
