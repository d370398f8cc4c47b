package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the ranks have called at a place of the order where they differ. All are asked, so that the failure lists each known
 * rank's call and blames those that differ from most; whoever does not answer in time is left out. Thread-safe.
 */
final class Mismatches {
    /** So long the other ranks have to say what they called; an answer takes far less than a millisecond. */
    private static final long COLLECT_NANOS = 20_000_000L;
    /** Room for the calls in the text; what comes after is counted. */
    private static final int LIST_MOST = 2000;

    private final GroupControl control;
    private final int self;
    private final int worldSize;
    private final Map<Integer, String> calls = new TreeMap<>();
    private long sequence;
    private boolean concluded;

    Mismatches(GroupControl control, int self, int worldSize) {
        this.control = control;
        this.self = self;
        this.worldSize = worldSize;
    }

    /** Takes note that a rank has made another call than this one at a place of the order. */
    void found(CallHeader mine, int peer, String theirs) {
        synchronized (this) {
            if (sequence == 0) {
                sequence = mine.sequence();
                calls.put(self, mine.text());
            } else if (sequence != mine.sequence()) {
                return;
            }
            boolean first = calls.size() == 1;
            calls.put(peer, theirs);
            if (!first || calls.size() == worldSize) {
                peer = -1;
            }
        }
        if (peer >= 0) {
            control.ask(mine);
            // once more for those that come to it meanwhile
            control.later(() -> control.ask(mine), COLLECT_NANOS / 2);
            control.later(this::conclude, COLLECT_NANOS);
        }
        concludeIfAllCalled();
    }

    /** Takes note of what a rank answered. */
    void answered(int peer, Status status) {
        synchronized (this) {
            if (sequence == 0 || status.asked() != sequence) {
                return;
            }
            if (status.fingerprint() != 0) {
                calls.put(peer, status.call());
            }
        }
        concludeIfAllCalled();
    }

    private void concludeIfAllCalled() {
        boolean all;
        synchronized (this) {
            all = calls.size() == worldSize;
        }
        if (all) {
            conclude();
        }
    }

    private void conclude() {
        Failure failure;
        synchronized (this) {
            if (concluded) {
                return;
            }
            concluded = true;
            String text = "ranks made different calls at seq " + sequence + ": " + list()
                    + ": all ranks must make the same calls in the same order";
            failure = new Failure(Code.MISMATCH, self, sequence, Names.list(odd()), text, null, calls.size());
        }
        control.fail(failure);
    }

    /** Returns the ranks that differ from more than half of those that are known, else all of these. */
    private BitSet odd() {
        BitSet odd = new BitSet();
        calls.keySet().forEach(odd::set);
        for (String call : calls.values()) {
            long same = calls.values().stream().filter(call::equals).count();
            if (2 * same > calls.size()) {
                calls.forEach((rank, other) -> odd.set(rank, !other.equals(call)));
            }
        }
        return odd;
    }

    private String list() {
        StringBuilder text = new StringBuilder();
        int listed = 0;
        for (Map.Entry<Integer, String> call : calls.entrySet()) {
            if (text.length() > LIST_MOST) {
                return text + " and " + (calls.size() - listed) + " more";
            }
            text.append(text.isEmpty() ? "" : ", ")
                    .append("rank ")
                    .append(call.getKey())
                    .append(' ')
                    .append(call.getValue());
            listed++;
        }
        return text.toString();
    }

    /** Says what another rank sent in place of what is expected of it. */
    static String difference(CallHeader expected, CallHeader found) {
        if (found.fingerprint() == expected.fingerprint()) {
            return "the same call as seq " + found.sequence() + ", need seq " + expected.sequence();
        }
        return "seq " + found.sequence() + " with fingerprint " + Long.toHexString(found.fingerprint()) + ", need "
                + Long.toHexString(expected.fingerprint());
    }
}
