package ferro.collectives.control;

import ferro.spi.CallHeader;

/** The last operations that this rank has called, so that others can ask what they were; thread-safe. */
final class History {
    private static final int KEPT = 1024;

    private CallHeader[] calls = new CallHeader[16];
    private long last;

    synchronized void add(CallHeader call) {
        last = call.sequence();
        if (call.sequence() >= calls.length && calls.length < KEPT) {
            grow();
        }
        calls[slot(call.sequence())] = call;
    }

    /** Returns the operation of a sequence number, or null if it is not called yet, or too long ago. */
    synchronized CallHeader find(long sequence) {
        CallHeader call = calls[slot(sequence)];
        return call != null && call.sequence() == sequence ? call : null;
    }

    /** Returns the sequence number of the last operation called, 0 if none. */
    synchronized long last() {
        return last;
    }

    private void grow() {
        CallHeader[] old = calls;
        calls = new CallHeader[Math.min(KEPT, 4 * old.length)];
        for (CallHeader call : old) {
            if (call != null) {
                calls[slot(call.sequence())] = call;
            }
        }
    }

    private int slot(long sequence) {
        return (int) (sequence & (calls.length - 1));
    }
}
