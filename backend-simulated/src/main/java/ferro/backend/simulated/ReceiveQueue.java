package ferro.backend.simulated;

import java.util.Arrays;

/** Receives in the order of posting, for one thread at a time. It grows, never shrinks, and reuses its entries. */
final class ReceiveQueue {
    private PostedReceive[] ring = {new PostedReceive(), new PostedReceive(), new PostedReceive(), new PostedReceive()};
    private int first;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    PostedReceive first() {
        return ring[first];
    }

    /** Returns an entry to fill, which is now the last one. */
    PostedReceive add() {
        if (size == ring.length) {
            widen();
        }
        PostedReceive last = ring[(first + size) & (ring.length - 1)];
        size++;
        return last;
    }

    void removeFirst() {
        PostedReceive done = ring[first];
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
        PostedReceive[] wider = Arrays.copyOf(ring, ring.length * 2);
        for (int i = 0; i < ring.length; i++) {
            wider[i] = ring[(first + i) & (ring.length - 1)];
        }
        for (int i = ring.length; i < wider.length; i++) {
            wider[i] = new PostedReceive();
        }
        ring = wider;
        first = 0;
    }
}
