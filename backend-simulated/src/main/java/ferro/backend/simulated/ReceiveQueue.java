package ferro.backend.simulated;

import java.util.Arrays;

/** Receives in the order in which they were posted; one thread at a time. Grows, never shrinks, reuses its entries. */
final class ReceiveQueue {
    private Receive[] ring = {new Receive(), new Receive(), new Receive(), new Receive()};
    private int first;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    Receive first() {
        return ring[first];
    }

    /** Returns an entry to fill, now the last one. */
    Receive add() {
        if (size == ring.length) {
            widen();
        }
        Receive last = ring[(first + size) & (ring.length - 1)];
        size++;
        return last;
    }

    void removeFirst() {
        Receive done = ring[first];
        done.into = null;
        done.call = null;
        done.op = null;
        first = (first + 1) & (ring.length - 1);
        size--;
    }

    void clear() {
        while (size > 0) {
            removeFirst();
        }
    }

    private void widen() {
        Receive[] wider = Arrays.copyOf(ring, ring.length * 2);
        for (int i = 0; i < ring.length; i++) {
            wider[i] = ring[(first + i) & (ring.length - 1)];
        }
        for (int i = ring.length; i < wider.length; i++) {
            wider[i] = new Receive();
        }
        ring = wider;
        first = 0;
    }
}
