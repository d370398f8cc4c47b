package ferro.backend.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Connections whose bytes mean no more than: wake up. The thread that rings writes to the socket that the sleeper waits for, so
 * that no thread of either process has to run in between. Belongs to the driver of the transport.
 */
final class Bells {
    /** Taken off at once; a peer rings once per sleep. */
    private static final int BYTES = 64;

    private final Wire[] wires;
    private final boolean[] asked;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    private long heard;
    private boolean closed;

    Bells(int worldSize) {
        this.wires = new Wire[worldSize];
        this.asked = new boolean[worldSize];
    }

    /** Returns whether a connection to a peer is to be asked for: once. */
    boolean asksFor(int peer) {
        boolean asks = wires[peer] == null && !asked[peer];
        asked[peer] = true;
        return asks;
    }

    /** Takes over a connection, whoever asked for it. */
    void hang(int peer, Wire wire) {
        if (closed || wires[peer] != null) {
            wire.close();
            return;
        }
        wires[peer] = wire;
    }

    /** Rings; returns false without a connection. */
    boolean ring(int peer) {
        Wire wire = wires[peer];
        if (wire == null) {
            return false;
        }
        try {
            // what does not fit lies behind bytes that have not been taken off: the peer is on its way already
            wire.write(bytes, 0, 1);
            return true;
        } catch (IOException gone) {
            // the control connection tells who has gone, and why
            drop(peer);
            return false;
        }
    }

    /** Says that the next wait shall end when somebody rings. */
    void want() {
        for (Wire wire : wires) {
            if (wire != null) {
                wire.want(true, false);
            }
        }
    }

    /** Returns how often others have rung, as far as it has been taken off. */
    long heard() {
        return heard;
    }

    /** Takes off what has rung, so that the next wait waits. */
    void silence() {
        for (int peer = 0; peer < wires.length; peer++) {
            if (wires[peer] != null && wires[peer].readable() && !isSilenced(wires[peer])) {
                drop(peer);
            }
        }
    }

    private boolean isSilenced(Wire wire) {
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

    /** Closes all; idempotent. */
    void close() {
        closed = true;
        for (int peer = 0; peer < wires.length; peer++) {
            if (wires[peer] != null) {
                drop(peer);
            }
        }
    }
}
