package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Connections whose bytes mean only "wake up". The signalling thread writes to the socket that the sleeping thread waits
 * for, so that no other thread of either process has to run in between. Used by the progress thread of the transport.
 */
public final class Doorbells {
    /** Most bytes of one read; a peer signals once per sleep. */
    private static final int BYTES = 64;

    private final DataSocket[] wires;
    private final boolean[] asked;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    private long heard;
    private boolean closed;

    /** Makes room for one doorbell of each rank. */
    public Doorbells(int worldSize) {
        this.wires = new DataSocket[worldSize];
        this.asked = new boolean[worldSize];
    }

    /** Returns whether a connection to a peer is to be requested; true only once. */
    public boolean asksFor(int peer) {
        boolean asks = wires[peer] == null && !asked[peer];
        asked[peer] = true;
        return asks;
    }

    /** Takes over a connection; either side may have requested it. */
    public void register(int peer, DataSocket wire) {
        if (closed || wires[peer] != null) {
            wire.close();
            return;
        }
        wires[peer] = wire;
    }

    /** Signals the doorbell of a peer; returns false without a connection. */
    public boolean signal(int peer) {
        DataSocket wire = wires[peer];
        if (wire == null) {
            return false;
        }
        try {
            // a byte that does not fit follows bytes that the peer has not read: the peer is about to wake up already
            wire.write(bytes, 0, 1);
            return true;
        } catch (IOException gone) {
            // the control connection reports which peer is lost, and why
            drop(peer);
            return false;
        }
    }

    /** Makes the next wait end when a peer signals. */
    public void want() {
        for (DataSocket wire : wires) {
            if (wire != null) {
                wire.want(true, false);
            }
        }
    }

    /** Returns how many signals of peers have been read. */
    public long heard() {
        return heard;
    }

    /** Reads the signals that have come, so that the next wait waits. */
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
