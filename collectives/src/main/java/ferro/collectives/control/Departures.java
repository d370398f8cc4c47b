package ferro.collectives.control;

import java.util.Map;
import java.util.TreeMap;

/** Ranks that have closed their end, and the last operation that each has called; thread-safe. */
final class Departures {
    private final Map<Integer, Long> departed = new TreeMap<>();
    private volatile boolean any;

    synchronized void add(int peer, long lastSequence) {
        departed.put(peer, lastSequence);
        any = true;
    }

    /** Returns the first rank that has never called an operation, or -1; costs no lock while nobody has left. */
    int before(long sequence) {
        return any ? search(sequence) : -1;
    }

    private synchronized int search(long sequence) {
        for (Map.Entry<Integer, Long> gone : departed.entrySet()) {
            if (gone.getValue() < sequence) {
                return gone.getKey();
            }
        }
        return -1;
    }

    /** Returns whether a rank has left, having called an operation and all before it. */
    boolean after(int peer, long sequence) {
        return sequence > 0 && any && lastOf(peer) >= sequence;
    }

    private synchronized long lastOf(int peer) {
        return departed.getOrDefault(peer, -1L);
    }

    boolean has(int peer) {
        return any && contains(peer);
    }

    private synchronized boolean contains(int peer) {
        return departed.containsKey(peer);
    }
}
